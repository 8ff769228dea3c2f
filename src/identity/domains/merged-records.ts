// Merges our part into an SPF or DMARC record that the domain already has. Two such records would
// both be invalid, and a record of ours alone would drop the owner's part. Pure.
import { placeOf } from './expected-spf.ts';

const spfVersion = /^v=spf1( |$)/i;
/** Terms after which receivers ignore further mechanisms (RFC 7208 5.1, 6.1). */
const spfEnd = /^([+?~-]?all$|redirect=)/i;
const softFail = '~all';

/** Returns the SPF records among these texts. */
export function spfRecordsIn(texts: readonly string[]): string[] {
  return texts.filter((text) => spfVersion.test(text));
}

/**
 * Merges these SPF records into a single record that also has `mechanisms`. It ends in the first
 * `all` or `redirect=` of the records, or else in `end`.
 */
export function mergedSpf(
  records: readonly string[],
  mechanisms: readonly string[],
  end: string = softFail,
): string {
  const terms = records.flatMap((text) => text.trim().split(/\s+/).slice(1));
  const listed = terms.filter((term) => !spfEnd.test(term));
  const own = mechanisms.filter((mechanism) => placeOf(mechanism, listed) < 0);
  const last = terms.find((term) => spfEnd.test(term)) ?? end;
  return ['v=spf1', ...new Set([...listed, ...own]), last].join(' ');
}

const tagName = /^[a-z]+$/i;

/**
 * Splits a tag into name (in lower case) and value, both '' for a malformed tag. A single regular
 * expression for both took 2.5 s for 2,000 blanks.
 */
export function readTag(part: string): [name: string, value: string] {
  const at = part.indexOf('=');
  const name = part.slice(0, Math.max(0, at)).trim().toLowerCase();
  return tagName.test(name) ? [name, part.slice(at + 1).trim()] : ['', ''];
}

/**
 * Adds `address` to the report addresses of a DMARC record. A record without a valid policy gets
 * `p=none`.
 */
export function mergedDmarc(record: string, address: string): string {
  const parts = record.split(';').filter((part) => part.trim() !== '');
  const tags = parts.map(readTag);
  const uri = `mailto:${address}`;
  const rua = tags.find(([name]) => name === 'rua');
  const policy = tags.find(([name]) => name === 'p');
  const isUsable = /^(none|quarantine|reject)$/i.test(policy?.[1] ?? '');
  const ours = rua && `rua=${withUri(rua[1], uri)}`;
  const [version = '', ...rest] = parts.flatMap((part, at) => {
    if (tags[at] === policy && !isUsable) return [];
    return tags[at] === rua && ours !== undefined ? ours : part.trim();
  });
  const merged = isUsable ? [version, ...rest] : [version, 'p=none', ...rest];
  return (rua ? merged : [...merged, `rua=${uri}`]).join('; ');
}

/** Adds a URI to a list, unless the list contains it. */
function withUri(list: string, uri: string): string {
  if (list === '') return uri;
  const isIn = list
    .toLowerCase()
    .split(/[\s,]+/)
    .includes(uri);
  return isIn ? list : `${list},${uri}`;
}
