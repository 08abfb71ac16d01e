// Everybody who has an e-mail address exists. The subject is the address in another spelling, so nothing is stored.

/** Who the local account of `npm start` belongs to; the login page proposes it. */
export const LOCAL_EMAIL = 'you@local.example';

const LONGEST = 120;
export const EMAIL_PATTERN = `[^\\s@]+@[^\\s@.]+(\\.[^\\s@.]+)+`;

/** The one spelling of an address; null for what is none. */
export function emailOf(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= LONGEST && new RegExp(`^${EMAIL_PATTERN}$`).test(email) ? email : null;
}

export const subjectOf = (email: string): string => Buffer.from(email).toString('base64url');

export function personOf(subject: string): { email: string } | null {
  const email = emailOf(Buffer.from(subject, 'base64url').toString());
  return email !== null && subjectOf(email) === subject ? { email } : null;
}
