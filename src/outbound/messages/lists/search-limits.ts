// Limits of the message search that the search schema and SQL share. The schema loads no store:
// help of the commands derives from it.

/** Characters of a subject that are kept and compared. */
export const subjectCharacters = 80;
