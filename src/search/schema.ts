// Input and answer of "Find anything", the search of the console over all nouns.
import { z } from 'zod';
import type { Message } from '../outbound/messages/schema.ts';
import type { Block } from '../people/blocks/schema.ts';
import type { Contact } from '../people/contacts/schema.ts';

const longestQuestion = 200;

export const searchQuery = z.strictObject({
  q: z.string().trim().min(1).max(longestQuestion).describe('Name, address, subject or value'),
});

/** A message in the results, with the status over all recipients. */
export interface FoundMessage
  extends Pick<Message, 'id' | 'direction' | 'subject' | 'status' | 'createdAt'> {
  from: string;
  to: string | null;
  /** Field that matched: `id`, `address`, `subject`, or `metadata.NAME`. */
  by: string;
}

export interface FoundThread {
  mailboxId: string;
  id: string;
  subject: string | null;
  from: string | null;
  lastActivityAt: string;
}

export interface FoundPerson extends Pick<Contact, 'id' | 'name' | 'status'> {
  email: string | null;
}

/** A message to an address, with the state of the copy for this address. */
export interface MailToAddress extends Pick<Message, 'id' | 'subject' | 'status' | 'createdAt'> {
  errorCode: string | null;
  errorMessage: string | null;
}

/** Explains why mail to an address did or did not arrive. */
export interface FoundAddress {
  email: string;
  contact: FoundPerson | null;
  /** Blocks of the address, newest first. A block without a group stops all mail. */
  blocks: Block[];
  /** The last messages to the address, newest first. */
  messages: MailToAddress[];
}

/** Results of a search. Nouns that the caller may not read are empty lists. */
export interface Found {
  /**
   * The address in the question, or else of the only person found. Null without an address, and if
   * the caller may see nothing about it.
   */
  address: FoundAddress | null;
  people: FoundPerson[];
  messages: FoundMessage[];
  threads: FoundThread[];
  campaigns: { id: string; name: string }[];
  templates: { id: string; name: string; slug: string; status: string }[];
}
