// Limits of the message search that its schema and its SQL share. The schema loads no store: help
// of the commands derives from it.

/** Characters of a subject that are kept and compared. */
export const subjectCharacters = 80;
