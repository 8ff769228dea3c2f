// The reader of the pages: fills ids into the printed commands, as a person copies them from the
// output of earlier commands, and owns the files that the pages take for granted.
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliWorkspace } from '../support/cli.ts';

interface Item {
  id: string;
  name?: string;
}

export interface Reader {
  /** Fills the values of the reader into a line. @throws Error for an unknown placeholder */
  fill(line: string): Promise<string>;
  /** Forgets the thread that the reader looked at: the next page begins with the newest thread. */
  turnPage(): void;
}

const placeholder = /(?<![\w$])(?:[A-Z]+_)+ID\b/g;

/** Puts the files of a reader into the directory: exports of other services, and a DKIM key. */
function putFiles(directory: string): void {
  cpSync(join(import.meta.dirname, '../fixtures/exports'), directory, { recursive: true });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(join(directory, 'mail.pem'), pem, { mode: 0o600 });
}

/** Makes the reader; `messageId` is the first message of the store. */
export function readerOf(cli: CliWorkspace, messageId: string): Reader {
  putFiles(cli.directory);
  let threadId = '';
  const items = async (...args: string[]) => (await cli.json<{ items: Item[] }>(args)).items;
  const newest = (topic: string) => async () => (await items(topic, 'list'))[0]?.id ?? '';
  const firstMailbox = async () => (await items('mailboxes', 'list')).at(-1)?.id ?? '';

  const values: Record<string, (line: string) => string | Promise<string>> = {
    MESSAGE_ID: () => messageId,
    KEY_ID: async () => (await items('keys', 'list')).find(({ name }) => name === 'shop')?.id ?? '',
    CONVERSATION_ID: newest('conversations'),
    WEBHOOK_ID: newest('webhooks'),
    CONTACT_ID: newest('contacts'),
    GROUP_ID: newest('groups'),
    UNSUBSCRIBE_GROUP_ID: newest('unsubscribe-groups'),
    SENDER_ID: newest('senders'),
    TEMPLATE_ID: newest('templates'),
    // The first mailbox stays: further pages need it.
    MAILBOX_ID: (line) =>
      line.startsWith('svc mailboxes delete') ? newest('mailboxes')() : firstMailbox(),
    ADDRESS_ID: async () => {
      const args = ['mailboxes', 'show', await firstMailbox()];
      return (await cli.json<{ addresses: Item[] }>(args)).addresses.at(-1)?.id ?? '';
    },
    // The same thread after it was moved.
    THREAD_ID: async () => {
      threadId ||= await newest('threads')();
      return threadId;
    },
  };

  return {
    async fill(line) {
      const filled = new Map<string, string>();
      for (const [name] of line.matchAll(placeholder)) {
        const value = await values[name]?.(line);
        if (!value) throw new Error(`the reader has no ${name} for: ${line}`);
        filled.set(name, value);
      }
      return line.replaceAll(placeholder, (name) => filled.get(name) ?? name);
    },
    turnPage() {
      threadId = '';
    },
  };
}
