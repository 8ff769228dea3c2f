// Bounds of mails with a link to confirm.

/** Mails to a contact for a group, in all. */
export const mostMails = 3;
/** Least time between two of them. */
export const mailEveryMs = 3_600_000;
/** Life of a link. */
export const linkLivesMs = 7 * 24 * 3_600_000;
/** Mails of an organization in a second. */
export const mailsPerSecond = 5;
