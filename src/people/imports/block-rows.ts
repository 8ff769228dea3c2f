// Turns a row of an imported list into a block. services.ts has the columns of each file format.
import { columnKey, columnsInWords, refuseDuplicates } from '../../platform/csv/read-table.ts';
import { ValidationError } from '../../platform/errors.ts';
import { foldAddress, parseAddress } from '../../platform/net/address.ts';
import { idPattern } from '../../platform/runtime/ids.ts';
import type { BlockReason } from '../blocks/schema.ts';
import { isFile } from './columns.ts';
import type { RowReader } from './row-reader.ts';
import {
  type BlockFormat,
  blockColumns,
  type Field,
  plainFile,
  type ServiceFile,
  serviceFiles,
} from './services.ts';
import type { WritableRow } from './window.ts';

type BlockFile = ServiceFile & { blocks: BlockFormat };

/** The block that a row of the file would add. */
export interface BlockCandidate {
  row: number;
  line: number;
  address: string;
  reason: BlockReason;
  unsubscribeGroupId: string | null;
  messageId: string | null;
  /** Time since which the exporting service has had the entry (ms since 1970), or null. */
  madeAt: number | null;
}

/** File formats that contain blocks, in the order in which a header is compared with them. */
export const blockFiles: readonly BlockFile[] = serviceFiles.flatMap((file) =>
  file.blocks ? [{ ...file, blocks: file.blocks }] : [],
);

/**
 * Returns the file format `name`, or without a name the format that the header fits. `header` is
 * null for a file without a header.
 * @throws ValidationError for an unknown name, a missing column or a repeated column.
 */
function blockFileOf(header: readonly string[] | null, name: string | undefined): BlockFile {
  const named = blockFiles.find(({ blocks }) => blocks.name === name);
  if (name !== undefined && !named) throw ValidationError.of('format', `there is no ${name}`);
  if (header === null) {
    if (!named || named.blocks.mayBeBare) return named ?? plainFile;
    const { title } = named.blocks;
    throw new ValidationError(`The file has no header: a header of ${title} was expected`);
  }
  const keys = new Set(header.map(columnKey));
  const missing = (named?.has ?? []).filter((column) => !keys.has(columnKey(column)));
  if (!blockColumns.address.some((column) => keys.has(column))) missing.unshift('email');
  if (missing.length > 0) {
    throw new ValidationError(
      `The file lacks the column ${missing.join(', ')}. Its columns: ` +
        `${columnsInWords(header)}`,
    );
  }
  refuseDuplicates(header);
  return named ?? blockFiles.find((file) => isFile(file, keys)) ?? plainFile;
}

/** Returns the text of the first address column that is not empty; else an empty text. */
function addressIn(field: Field): string {
  return blockColumns.address.map(field).find((text) => text !== '') ?? '';
}

/** Returns the time of an entry; null if it is missing, unreadable or in the future. */
function madeAtIn(field: Field, now: number): number | null {
  const times = blockColumns.madeAt.map((column) => readTime(field(column)));
  return times.find((at) => at > 0 && at <= now) ?? null;
}

/**
 * Parses seconds or milliseconds since 1970, or a date, into ms since 1970. A date without a zone
 * is UTC. Returns NaN for any further text.
 */
function readTime(text: string): number {
  if (/^\d{9,10}$/.test(text)) return Number(text) * 1_000;
  if (/^\d{12,13}$/.test(text)) return Number(text);
  // V8 reads a year into nearly anything: "1" is 2001.
  if (!/\d{4}/.test(text)) return Number.NaN;
  const isLocal = /^\d{4}-\d\d-\d\d[ T][\d:.]+$/.test(text);
  return Date.parse(isLocal ? `${text.replace(' ', 'T')}Z` : text.slice(0, 60));
}

const messageIds = idPattern('message');

function writable(candidate: BlockCandidate): WritableRow {
  const { row, address } = candidate;
  return { row, names: [foldAddress(address)], place: '', json: JSON.stringify(candidate) };
}

/**
 * Returns the reader of rows for a header or a named format (null: a file without a header).
 * `reason` applies to rows of plain lists without a reason.
 * @throws ValidationError as `blockFileOf`.
 */
export function blockReader(
  header: readonly string[] | null,
  {
    format,
    reason: fallback,
    now,
  }: { format?: string | undefined; reason: BlockReason; now: number },
): RowReader {
  const { name, title, judge } = blockFileOf(header, format).blocks;
  const read: RowReader['read'] = ({ line, field, fault }, row) => {
    const text = addressIn(field);
    const leave = (result: 'rejected' | 'skipped', reason: string) => ({
      result,
      left: { row, line, field: null, address: text, reason },
    });
    if (fault !== undefined) return leave('rejected', fault);
    const verdict = judge(field, fallback);
    if ('skip' in verdict) return leave('skipped', verdict.skip);
    // U+FFFD replaces bytes that are not UTF-8.
    const address = text.includes('\uFFFD') ? null : parseAddress(text);
    if (!address) return leave('rejected', 'is not a valid email address');
    if ('reject' in verdict) return leave('rejected', verdict.reject);
    const { reason, unsubscribeGroupId = null } = verdict;
    const named = field('messageId');
    const messageId = messageIds.test(named) ? named : null;
    const { email } = address;
    const madeAt = madeAtIn(field, now);
    return writable({ row, line, address: email, reason, unsubscribeGroupId, messageId, madeAt });
  };
  return { format: name, title, map: {}, read };
}
