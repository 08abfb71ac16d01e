// Every e-mail address is an account. The subject is the encoded address, so nothing needs to be stored.

/** The login of `npm start`'s local account. The login page suggests it. */
export const LOCAL_EMAIL = 'you@local.example';

const MAX_LENGTH = 120;
export const EMAIL_PATTERN = `[^\\s@]+@[^\\s@.]+(\\.[^\\s@.]+)+`;

/** The normalized address. Null if the text is no address. */
export function emailOf(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= MAX_LENGTH && new RegExp(`^${EMAIL_PATTERN}$`).test(email) ? email : null;
}

export const subjectOf = (email: string): string => Buffer.from(email).toString('base64url');

export function personOf(subject: string): { email: string } | null {
  const email = emailOf(Buffer.from(subject, 'base64url').toString());
  return email !== null && subjectOf(email) === subject ? { email } : null;
}
