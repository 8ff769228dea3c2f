// The folders of a mailbox, which hold the threads. Schemas and SQL share them.

export const folders = ['inbox', 'sent', 'archive', 'spam', 'trash', 'drafts'] as const;
export type Folder = (typeof folders)[number];

/** Folders that lists and searches leave out unless they are named. */
export const unlistedFolders: readonly Folder[] = ['spam', 'trash'];
export const listedFolders = folders.filter((folder) => !unlistedFolders.includes(folder));
