// The folders of a mailbox, which hold the threads. Schemas and SQL share them.

export const folders = ['inbox', 'sent', 'archive', 'spam', 'trash', 'drafts'] as const;
export type Folder = (typeof folders)[number];
