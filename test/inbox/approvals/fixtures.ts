// Proposals in a mailbox, made with the key of a program.

import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { storeAction } from '../../../src/inbox/approvals/actions.ts';
import { type FrozenBytes, storeProposal } from '../../../src/inbox/approvals/proposals.ts';
import type { ActionType, MailboxAction } from '../../../src/inbox/approvals/schema.ts';
import type { FrozenMail } from '../../../src/inbox/replies/frozen.ts';

/** Creates a key and returns its caller. */
export async function callerOf(app: App, by: Caller, input: CreateKey): Promise<Caller> {
  const { key } = await createKey(app, by, input);
  const caller = await createAuthenticator(app).authenticate(key ?? '');
  if (!caller) throw new Error('a new key was refused');
  return caller;
}

const summary = {
  to: ['ada@example.com'],
  cc: [],
  bcc: [],
  subject: 'Re: hello',
  preview: 'Hello Ada',
  attachments: 1,
};

/** Creates the key of a program that only proposes, in one mailbox. */
export function agentOf(app: App, operator: Caller, mailboxId: string): Promise<Caller> {
  const constraints = { mailboxIds: [mailboxId] };
  const input = { role: 'developer', constraints, sendMode: 'approval', name: 'agent' } as const;
  return callerOf(app, operator, input);
}

const file = {
  ...{ n: 1, filename: 'a.txt', contentType: 'text/plain', contentId: null },
  ...{ size: 5, digest: 'sha256:1' },
};

/** A mail that cannot be sent, because its sender may not send. */
const mail: FrozenMail = {
  type: 'reply',
  threadId: null,
  inReplyToMessageId: null,
  draft: null,
  from: { email: 'nobody@elsewhere.example', name: null },
  to: ['ada@example.com'],
  cc: [],
  bcc: [],
  subject: 'Re: hello',
  text: 'Hello Ada',
  html: null,
  attachments: [file],
  replyTo: [],
  inReplyTo: null,
  references: [],
};

const mime = Buffer.from(
  'From: nobody@elsewhere.example\r\nTo: ada@example.com\r\n\r\nHello Ada\r\n',
);

/** The proposed mail. */
export const frozen: FrozenBytes = {
  mail,
  digest: 'sha256:0',
  mime,
  files: [Buffer.from('a.txt')],
};

/** Proposes a mail that no approval could send. */
export async function propose(app: App, mailboxId: string, by: Caller): Promise<MailboxAction> {
  const proposal = await app.store.write((trx) =>
    storeProposal(app, trx, by, { mailboxId, type: 'reply', threadId: null, summary }, frozen),
  );
  return proposal.action;
}

/** Records an action of a key. */
export function act(app: App, caller: Caller, mailboxId: string, type: ActionType = 'label') {
  const action = { mailboxId, type, messageId: null, threadId: null, summary: {} };
  return app.store.write((trx) => storeAction(app, trx, caller, action));
}
