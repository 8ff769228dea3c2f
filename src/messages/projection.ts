// What a mail that came in says, found by parsing it once and kept from then on. A row is written with the
// message and parsed soon after its 250 (src/inbound/projector.ts); who asks first has it parsed at once.
//
//   state   | due_at           | parsed_at | by                                     | then
//   --------+------------------+-----------+----------------------------------------+--------
//   (none)  |                  |           | the transaction of the 250             | waiting
//   (none)  |                  |           | a question about a mail from before    | asked
//   waiting | its time         | null      | taken by a daemon, which counts a try  | leased
//   waiting | its time         | null      | a question                             | asked
//   leased  | end of the lease | null      | parsed, or tried often enough          | done
//   leased  | end of the lease | null      | a question                             | asked
//   leased  | end of the lease | null      | no room in the parser, daemon stops    | waiting
//   leased  | end of the lease | null      | its worker or its daemon died          | waiting
//   asked   | as before        | set       | a daemon comes to it                   | done
//   done    | null             | set       | nothing                                |
//
// Any of them goes with its message. A parse that its worker did not end is a try: what little it found is
// kept after the last one, so that no mail is tried for ever.
import type { App } from '../app.ts';
import type { MailAttachment, ParsedMail } from '../mime/parse/parsed-mail.ts';
import { previewOf } from '../mime/parse/preview.ts';
import { perApp } from '../runtime/per-app.ts';
import { type Db, fromJson, toJson } from '../store/db.ts';
import type { DocumentWords } from '../store/full-text/document.ts';
import { groupWrites } from '../store/group.ts';
import { findBlob } from './content-queries.ts';
import {
  closeProjections,
  countTry,
  type FoundRow,
  fillProjection,
  findFound,
  insertAsked,
} from './projection-queries.ts';
import { findMessageRow, lockMessages, type MessageRow } from './queries.ts';
import type { EmailProjection } from './schema.ts';

/** After so many tries that its worker did not end, a mail is kept with what little is known of it. */
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
  /** What the author's domain asks for: `none`, `quarantine`, `reject`. */
  dmarcPolicy?: string;
}

/** A row with what is kept elsewhere of the same parse. */
export interface Reading extends FoundRow {
  /** Null where the parse was cut short: then they are read later. */
  words: DocumentWords | null;
}

/** What a mail was found to say, and how far that goes. */
export interface Found {
  row: Reading;
  cutShort: ParsedMail['cutShort'];
}

const list = (values: readonly unknown[]) => (values.length > 0 ? toJson(values) : null);

/** As it is kept. */
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
    quoted_content: mail.quotedContent,
    text: mail.text,
    html: mail.html,
    words: mail.words ?? null,
  };
}

/** Of a message without its raw mail. */
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

/** The attachments of a mail that came in, without their bytes. */
export function attachmentsOf({ attachments }: Pick<FoundRow, 'attachments'>): MailAttachment[] {
  return fromJson<MailAttachment[]>(attachments) ?? [];
}

/** What is being parsed in this process, by message: who asks meanwhile gets the same. */
const underWayOf = perApp((_app: App) => new Map<string, Promise<Found>>());

/**
 * Parses the raw mail of a message, in the worker: `raw`, or what the store has. Keeps nothing.
 * @throws CapacityError when the parser has no room, or the store cannot be read
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
  const raw = known ?? (raw_blob_id ? await findBlob(app.store.db, raw_blob_id) : undefined);
  if (!raw) return { row: foundNothing, cutShort: undefined };
  const mail = await app.mime.parse(raw, parseOptionsOf(message));
  return { row: foundRowOf(mail), cutShort: mail.cutShort };
}

/** What parsing needs to know besides the raw mail. */
export function parseOptionsOf({ inbound_envelope }: MessageRow): { envelopeFrom: string } {
  const envelope = fromJson<InboundEnvelope>(inbound_envelope);
  return { envelopeFrom: envelope?.mailFrom ?? '' };
}

interface Kept {
  id: string;
  /** Null where it is kept already. */
  row: Reading | null;
  /** Nothing is left to be done for it. */
  closes: boolean;
}

const keepOf = perApp((app: App) =>
  groupWrites(
    app.store,
    mostPerTransaction,
    async (trx, items: Kept[]) => {
      const sorted = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const closed = sorted.filter(({ closes }) => closes);
      // Before their other rows: deletions do so too.
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
      await app.threads.takeIn(app, trx, parsed);
      await closeProjections(trx, open);
      return items.map(() => undefined);
    },
    // What is lost is found again; of mail in a mailbox others are told.
    'soon',
  ),
);

/** Gives a message from before its row. False where the message is gone. */
async function hasRow(trx: Db, id: string): Promise<boolean> {
  await lockMessages(trx, [id]);
  if (!(await findMessageRow(trx, id))) return false;
  await insertAsked(trx, id);
  return true;
}

/**
 * Keeps what was found, unless it was found before (null says that it was) or the message is gone; then
 * nothing is left to be done for it. What is kept at once shares a transaction.
 */
export function finishProjection(app: App, id: string, row: Reading | null): Promise<undefined> {
  return keepOf(app)({ id, row, closes: true });
}

/** Keeps what a question brought to light; of a parse that was cut short, only after the last try. */
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
 * What a message that came in says: as it is kept, or else parsed now and kept.
 * @throws CapacityError as `parseMessage` does
 */
export async function readProjection(app: App, message: MessageRow): Promise<FoundRow> {
  const known = await findFound(app.store.db, message.id);
  if (known) return known;
  const found = await parseMessage(app, message);
  // The answer is there, whether or not it can be kept.
  await keepAnswer(app, message.id, found).catch((error: unknown) => {
    const text = 'what a message says could not be kept: it is parsed again when somebody asks';
    app.log.warn({ err: error, messageId: message.id }, text);
  });
  return found.row;
}
