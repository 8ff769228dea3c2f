// Bounds of mails with a link to confirm.

/** Most mails to a contact for a group, ever. */
export const mostMails = 3;
/** Least time between two mails to a contact for a group. */
export const mailEveryMs = 3_600_000;
/** Time for which a link is valid. */
export const linkLivesMs = 7 * 24 * 3_600_000;
/** Most mails of an organization in a second. */
export const mailsPerSecond = 5;
