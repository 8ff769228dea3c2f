// Shows the result of a send without sending, with each reason for a refusal. Runs the checks of a
// send outside of a transaction: stores nothing, and uses up no quota.
import { openAllowances } from '../../access/admission/quota.ts';
import { adviceOn } from '../../content/templates/compose.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { composeHere } from '../../mail/mime/composer.ts';
import { findBlockedOf, sendKey } from '../../people/blocks/suppression.ts';
import { type ServiceError, ValidationError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { DryRunResult } from '../messages/schema.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import { composeInputOf } from '../queue/carrier/request.ts';
import { type AcceptingSend, openDryChecks } from '../queue/schedule/send-checks.ts';
import { toCheck } from './accept.ts';
import { draftMessage } from './draft.ts';
import { type PreparedSend, prepareSend } from './prepare.ts';
import type { RecentContents } from './recent-contents.ts';

/** Runs all checks of a send without sending it. */
export async function dryRunMessage(
  app: App,
  caller: Caller,
  payload: SendPayload,
): Promise<DryRunResult> {
  const { db } = app.store;
  const prepared = await prepareSend(app, caller, payload, true);
  const send = toCheck(prepared);
  const allowances = await openAllowances(app, db, [caller.organizationId]);
  const refusalsOf = await openDryChecks(app, db, allowances, [send]);
  const refusals = [...(prepared.refusal ? [prepared.refusal] : []), ...refusalsOf(send)];
  const { email } = prepared.payload;
  const isRefused = prepared.refusal !== undefined;
  const { html } = prepared.content;
  const facts = { sender: send.sender?.email ?? '', hasGroup: send.unsubscribeGroupId !== null };
  const advice = html === null ? [] : await adviceOn(app, caller.organizationId, html, facts);
  return {
    valid: refusals.length === 0,
    problems: refusals.flatMap(problemsOf),
    subject: email.subject ?? null,
    preheader: prepared.preheader ?? null,
    html: isRefused ? null : html,
    text: isRefused ? null : prepared.content.text,
    sizeBytes: isRefused ? null : await sizeOf(app, prepared, send),
    warnings: [...(prepared.warnings ?? []), ...advice],
    suppressed: await suppressedOf(app, send),
  };
}

/** Returns a problem for each invalid field, and a single problem for any further refusal. */
function problemsOf(error: ServiceError): DryRunResult['problems'] {
  const { _tag, message } = error;
  const fields = error instanceof ValidationError ? Object.entries(error.fieldErrors ?? {}) : [];
  if (fields.length === 0) return [{ _tag, field: null, message }];
  return fields.flatMap(([field, messages]) =>
    messages.map((problem) => ({ _tag, field, message: problem })),
  );
}

/** Finds and records no contents, so that a draft of a dry run never reuses stored content. */
const nothingStored: RecentContents = {
  keep: async () => {},
  find: () => null,
  remember: () => {},
};

/** Returns the size of the mail before signing, in bytes; null without a sender. */
async function sizeOf(
  app: App,
  { caller, content }: PreparedSend,
  { payload, sender, parent }: AcceptingSend,
): Promise<number | null> {
  if (!sender) return null;
  const written = { caller, payload, content };
  const draft = draftMessage(app, nothingStored, written, sender, parent, new Map());
  const { html, text } = content;
  const attachments = content.attachments.map(({ data, ...file }) => ({ ...file, content: data }));
  const groupId = payload.email.unsubscribeGroupId ?? null;
  const body = { html, text, attachments };
  const input = composeInputOf(draft.message, draft.recipients, groupId, body);
  const timestampSeconds = Math.floor(app.clock.now() / 1000);
  const { data } = await composeHere({ input, keys: [], timestampSeconds });
  return data.reduce((bytes, part) => bytes + part.length, 0);
}

async function suppressedOf(app: App, send: AcceptingSend): Promise<DryRunResult['suppressed']> {
  const { organizationId, unsubscribeGroupId, addresses } = send;
  const found = await findBlockedOf(app.store.db, [send]);
  const blocks = found.get(sendKey(organizationId, unsubscribeGroupId));
  return [...new Set(addresses)].flatMap((address) => {
    const block = blocks?.get(foldAddress(address));
    return block ? { address, reason: block.reason } : [];
  });
}
