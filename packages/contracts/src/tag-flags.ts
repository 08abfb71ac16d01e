/**
 * The flags of England, Scotland and Wales: the only texts of use whose tag characters stand for something that is seen.
 * All other tag characters are text that a model reads and a person does not see.
 */
export const TAG_FLAGS =
  /\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}/gu;
