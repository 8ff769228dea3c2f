// Sends from a mailbox. Concurrent sends share a transaction (together.ts): for the send, the
// thread, the action and the events, or for the proposal. Sends without a mailbox take a different
// path.
import { noticeReplay } from '../../core/api/idempotency.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { MailboxRow } from '../../identity/mailboxes/queries.ts';
import { mostAttachmentsBytes, mostRecipients } from '../../outbound/messages/send-schema.ts';
import { prepareContent } from '../../outbound/sending/content.ts';
import { countTaken } from '../../outbound/sending/send.ts';
import { stageContent } from '../../outbound/sending/store-content.ts';
import { ValidationError } from '../../platform/errors.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { groupWrites } from '../../platform/store/group.ts';
import { type Frozen, freeze } from './frozen.ts';
import { type Mail, payloadOf } from './mail.ts';
import { type Asked, claimOf, resultBefore } from './repeats.ts';
import type { ReplyResult } from './schema.ts';
import { type Asking, pausedError, sendTogether } from './together.ts';

const mostPerTransaction = 128;

/** Adds a mail to the next shared transaction. Resolves with the result of this mail. */
const gathered = perApp((app: App) =>
  groupWrites(app.store, mostPerTransaction, (trx, asked: Asking[]) =>
    sendTogether(app, trx, asked),
  ),
);

/** Refuses a paused mailbox. @throws ConflictError. */
export function requireActive(mailbox: MailboxRow): void {
  const error = pausedError(mailbox);
  if (error) throw error;
}

/**
 * Refuses a mail with too many recipients, too large attachments or no content. Schema and send
 * checks do not see the complete mail. `sizes` are the encoded sizes of attachments. @throws
 * ValidationError.
 */
export function requireWhole(
  { to, cc, bcc, text, html }: Pick<Mail, 'to' | 'cc' | 'bcc' | 'text' | 'html'>,
  sizes: readonly number[],
): void {
  if (to.length + cc.length + bcc.length > mostRecipients) {
    throw ValidationError.of('cc', `at most ${mostRecipients} recipients over to, cc and bcc`);
  }
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > mostAttachmentsBytes) {
    throw ValidationError.of(
      'attachments',
      `may take ${mostAttachmentsBytes} bytes in all once encoded`,
    );
  }
  if (text || html || sizes.length > 0) return;
  throw ValidationError.of('text', 'needs text, html or an attachment');
}

/**
 * Sends a mail from a mailbox. It becomes a proposal if the key only proposes or a program reached
 * the limit of the thread. A proposal is frozen before the transaction, which composes nothing. A
 * repeat with the same key and content gets the same result. Resolves after the durable commit.
 * @throws ResourceNotFoundError; ConflictError (paused mailbox, idempotency key); RateLimitedError
 * if 100 proposals are open; all refusals of a send.
 */
export async function sendMail(
  app: App,
  caller: Caller,
  mailboxId: string,
  mail: Mail,
  asked: Asked & { delaySeconds?: number | undefined },
): Promise<ReplyResult> {
  requireWhole(
    mail,
    mail.attachments.map(({ content }) => content.length),
  );
  const proposes = caller.sendMode === 'approval';
  const before = proposes ? await resultBefore(app, caller, asked) : null;
  if (before) return before;
  const content = await prepareContent(app, caller.organizationId, payloadOf(mail));
  if (!proposes) await stageContent(app, caller.organizationId, content);
  const ask = (frozen: Frozen | null) => {
    const claim = claimOf(app, caller, asked);
    const { delaySeconds = 0 } = asked;
    return gathered(app)({ caller, mailboxId, mail, content, delaySeconds, claim, frozen });
  };
  const frozen = () => freeze(app, caller, mail, content.attachments);
  let answer = await ask(proposes ? await frozen() : null);
  while ('isUnfrozen' in answer) answer = await ask(await frozen());
  if ('error' in answer) throw answer.error;
  if (answer.isReplayed) noticeReplay();
  if (answer.messageId !== null) countTaken(app, caller, 'api', 1);
  return answer.result;
}
