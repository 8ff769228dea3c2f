// Limits of the message search that the search schema and SQL share. Without imports, as the help
// of commands loads the schema but no store.

/** Most characters of a subject that are stored and compared. */
export const subjectCharacters = 80;
