// Parsed content of received mail. Each mail is parsed once, and the result is stored. A row is
// written with the message and parsed soon after the 250 (src/inbox/receiving/projector.ts). A read
// before that parses the mail at once.
//
//   state   | due_at           | parsed_at | by                                       | then
//   --------+------------------+-----------+------------------------------------------+--------
//   (none)  |                  |           | the transaction of the 250               | waiting
//   (none)  |                  |           | a read of mail older than the table      | asked
//   waiting | its time         | null      | leased by a daemon, which counts a try   | leased
//   waiting | its time         | null      | a read                                   | asked
//   leased  | end of the lease | null      | parsed, or tries exhausted               | done
//   leased  | end of the lease | null      | a read                                   | asked
//   leased  | end of the lease | null      | no room in the parser, daemon stops      | waiting
//   leased  | end of the lease | null      | its worker or its daemon died            | waiting
//   asked   | as before        | set       | a daemon reaches the row                 | done
//   done    | null             | set       | nothing                                  |
//
// Deleting the message deletes the row in any state. A parse that the worker did not finish is a
// try. After the last try the partial result is kept, so that no mail is retried for ever.
import type { App } from '../../../core/app.ts';
import { readBlob } from '../../../core/blobs/blobs.ts';
import type { MailAttachment, ParsedMail } from '../../../mail/mime/parsed-mail.ts';
import { previewOf } from '../../../mail/parse/preview.ts';
import type { DocumentWords } from '../../../platform/full-text/document.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import { type Db, fromJson, toJson } from '../../../platform/store/db.ts';
import { groupWrites } from '../../../platform/store/group.ts';
import type { EmailProjection } from '../email-schema.ts';
import { findMessageRow, lockMessages, type MessageRow } from '../queries.ts';
import {
  closeProjections,
  countTry,
  type FoundRow,
  fillProjection,
  findFound,
  insertAsked,
} from './projection-queries.ts';

/** Unfinished parses after which the partial result of a mail is kept. */
export const mostTries = 3;
const mostPerTransaction = 32;

/** Verdicts and envelope as the receive path stored them. */
export interface InboundEnvelope {
  mailFrom: string;
  recipients: string[];
  remoteAddress: string;
  helo: string;
  tls: boolean;
  dkimVerdict: EmailProjection['dkimVerdict'];
  spfVerdict: EmailProjection['spfVerdict'];
  dmarcVerdict: EmailProjection['dmarcVerdict'];
  /** Absent in mail received before ARC was stored. */
  arcVerdict?: EmailProjection['arcVerdict'];
  authenticationResults?: string;
  /** Policy of the author's domain: `none`, `quarantine`, `reject`. */
  dmarcPolicy?: string;
  /** Set if From names no author that can be read: the message then shows the return path. */
  isAuthorUnknown?: true;
  /**
   * Domain of `smtp.inbound.trustedSealers` with an ARC seal that overrides the failure of DMARC.
   */
  trustedSealer?: string;
}

/** A row of parsed fields, with the search words from the same parse. */
export interface Reading extends FoundRow {
  /** Words for the search. Null if the parse was cut short: a later read finds the words. */
  words: DocumentWords | null;
}

/** Result of a parse, and how far it came. */
export interface Found {
  row: Reading;
  cutShort: ParsedMail['cutShort'];
}

const list = (values: readonly unknown[]) => (values.length > 0 ? toJson(values) : null);

/** Returns the text that the parser did not count as new content: quotations and the signature. */
function cutContent({ quotedContent, signature }: ParsedMail): string | null {
  const parts = [quotedContent, signature].filter((one) => one !== null);
  return parts.length > 0 ? parts.join('\n\n') : null;
}

/** Turns a parsed mail into a row. */
export function foundRowOf(mail: ParsedMail): Reading {
  return {
    is_auto_reply: Number(mail.isAutoReply),
    auto_reply_reason: mail.autoReplyReason,
    list_id: mail.listId,
    list_unsubscribe_url: mail.listUnsubscribeUrl,
    list_unsubscribe_email: mail.listUnsubscribeEmail,
    preview: previewOf(mail),
    has_quoted_content: Number(mail.hasQuotedContent),
    parsing_errors: list(mail.parsingErrors),
    list_headers: list(mail.listHeaders),
    attachments: list(mail.attachments),
    new_content: mail.newContent,
    quoted_content: cutContent(mail),
    text: mail.text,
    html: mail.html,
    words: mail.words ?? null,
  };
}

/** The empty result, for a message without raw mail. */
const foundNothing: Reading = {
  is_auto_reply: 0,
  auto_reply_reason: null,
  list_id: null,
  list_unsubscribe_url: null,
  list_unsubscribe_email: null,
  preview: null,
  has_quoted_content: 0,
  parsing_errors: null,
  list_headers: null,
  attachments: null,
  new_content: null,
  quoted_content: null,
  text: null,
  html: null,
  words: null,
};

/** Returns the attachments of received mail, without their bytes. */
export function attachmentsOf({ attachments }: Pick<FoundRow, 'attachments'>): MailAttachment[] {
  return fromJson<MailAttachment[]>(attachments) ?? [];
}

/** Parses under way in this process, by message. Concurrent callers share a parse. */
const underWayOf = perApp((_app: App) => new Map<string, Promise<Found>>());

/**
 * Parses the raw mail of a message in the worker: `raw`, or the bytes in the store. Keeps nothing.
 * @throws CapacityError if the parse worker is full, or the store cannot be read
 */
export function parseMessage(app: App, message: MessageRow, raw?: Buffer): Promise<Found> {
  const underWay = underWayOf(app);
  let found = underWay.get(message.id);
  if (!found) {
    found = parseRaw(app, message, raw).finally(() => underWay.delete(message.id));
    underWay.set(message.id, found);
  }
  return found;
}

async function parseRaw(app: App, message: MessageRow, known?: Buffer): Promise<Found> {
  const { raw_blob_id } = message;
  const raw = known ?? (raw_blob_id ? await readBlob(app, raw_blob_id) : undefined);
  if (!raw) return { row: foundNothing, cutShort: undefined };
  const mail = await app.mime.parse(raw, parseOptionsOf(message));
  return { row: foundRowOf(mail), cutShort: mail.cutShort };
}

/** Returns the input of the parser besides the raw mail. */
export function parseOptionsOf({ inbound_envelope }: MessageRow): { envelopeFrom: string } {
  const envelope = fromJson<InboundEnvelope>(inbound_envelope);
  return { envelopeFrom: envelope?.mailFrom ?? '' };
}

interface Kept {
  id: string;
  /** The row to store; null if it is stored already. */
  row: Reading | null;
  /** Whether the mail's row is marked as done. */
  closes: boolean;
}

const keepOf = perApp((app: App) =>
  groupWrites(
    app.store,
    mostPerTransaction,
    async (trx, items: Kept[]) => {
      const sorted = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const closed = sorted.filter(({ closes }) => closes);
      // Locks messages before the dependent rows, as deletions do.
      await lockMessages(
        trx,
        closed.map(({ id }) => id),
      );
      const open: string[] = [];
      for (const { id, row, closes } of sorted) {
        const how = { at: app.clock.now(), closes };
        if (row && (await fillProjection(trx, id, row, how))) continue;
        if (closes) open.push(id);
        else if (row && (await hasRow(trx, id))) await fillProjection(trx, id, row, how);
      }
      const parsed = closed.map(({ id, row }) => ({ id, found: row }));
      await app.hooks.threads.takeIn(app, trx, parsed);
      await closeProjections(trx, open);
      return items.map(() => undefined);
    },
    // `soon` is enough, as a lost result is parsed again. `quiet` is not: the transaction also
    // publishes events for mail in a mailbox.
    'soon',
  ),
);

/** Inserts the row of an old message without a row. Returns false for a deleted message. */
async function hasRow(trx: Db, id: string): Promise<boolean> {
  await lockMessages(trx, [id]);
  if (!(await findMessageRow(trx, id))) return false;
  await insertAsked(trx, id);
  return true;
}

/**
 * Stores the result, puts the mail into a thread, and marks the row as done. `row` is null if the
 * result was stored before. Concurrent calls share a transaction.
 */
export function finishProjection(app: App, id: string, row: Reading | null): Promise<undefined> {
  return keepOf(app)({ id, row, closes: true });
}

/**
 * Stores the result of a read. Skips a parse that had not begun, and stores a partial result only
 * after the last try.
 */
async function keepAnswer(app: App, id: string, { row, cutShort }: Found): Promise<void> {
  if (cutShort === 'before') return;
  if (cutShort === 'within') {
    const tries = await app.store.write(
      async (trx) => ((await hasRow(trx, id)) ? await countTry(trx, id) : 0),
      'quiet',
    );
    if (tries < mostTries) return;
  }
  await keepOf(app)({ id, row, closes: false });
}

/**
 * Returns the parsed fields of received mail. Parses the mail and stores the result if that has not
 * happened yet.
 * @throws CapacityError as `parseMessage` does
 */
export async function readProjection(app: App, message: MessageRow): Promise<FoundRow> {
  const known = await findFound(app.store.db, message.id);
  if (known) return known;
  const found = await parseMessage(app, message);
  // A failure to store the result must not fail the read.
  await keepAnswer(app, message.id, found).catch((error: unknown) => {
    const text =
      'the parsed content of a message could not be stored: it is parsed again at the next ' +
      'request';
    app.log.warn({ err: error, messageId: message.id }, text);
  });
  return found.row;
}
