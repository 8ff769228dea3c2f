// What to publish where a domain has such a record already: the owner's own with what we need added,
// never a second one beside it (two SPF or DMARC records count as none), nor ours in its place. Pure.

const spfVersion = /^v=spf1( |$)/i;
/** What ends the list of an SPF record: mechanisms behind it are never looked at (RFC 7208 5.1, 6.1). */
const spfEnd = /^([+?~-]?all$|redirect=)/i;
const softFail = '~all';

/** The records of SPF among these texts. */
export function spfRecordsIn(texts: readonly string[]): string[] {
  return texts.filter((text) => spfVersion.test(text));
}

/** One SPF record that says what all of these say, and that `host` may send. */
export function mergedSpf(records: readonly string[], host: string): string {
  const terms = records.flatMap((text) => text.trim().split(/\s+/).slice(1));
  const isOurs = (term: string) =>
    term.replace(/^\+/, '').toLowerCase() === `a:${host.toLowerCase()}`;
  const listed = terms.filter((term) => !spfEnd.test(term));
  const own = listed.some(isOurs) ? [] : [`a:${host}`];
  const end = terms.find((term) => spfEnd.test(term)) ?? softFail;
  return ['v=spf1', ...new Set([...listed, ...own]), end].join(' ');
}

const tagPattern = /^\s*([a-z]+)\s*=\s*(.*?)\s*$/i;

/** The same DMARC record, its reports also to `address`; with the weakest policy where it has none. */
export function mergedDmarc(record: string, address: string): string {
  const parts = record.split(';').filter((part) => part.trim() !== '');
  const tags = parts.map((part): [string, string] => {
    const [, name = '', value = ''] = tagPattern.exec(part) ?? [];
    return [name.toLowerCase(), value];
  });
  const uri = `mailto:${address}`;
  const rua = tags.find(([name]) => name === 'rua');
  const policy = tags.find(([name]) => name === 'p');
  const isUsable = /^(none|quarantine|reject)$/i.test(policy?.[1] ?? '');
  const [version = '', ...rest] = parts
    .filter((_, at) => tags[at] !== policy || isUsable)
    .map((part) => part.trim());
  const merged = isUsable ? [version, ...rest] : [version, 'p=none', ...rest];
  if (!rua) return [...merged, `rua=${uri}`].join('; ');
  if (
    rua[1]
      .toLowerCase()
      .split(/[\s,]+/)
      .includes(uri)
  )
    return merged.join('; ');
  const withOurs = rua[1] === '' ? uri : `${rua[1]},${uri}`;
  return merged.map((part) => (/^rua\s*=/i.test(part) ? `rua=${withOurs}` : part)).join('; ');
}
