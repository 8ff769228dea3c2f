// The DNS records of a domain in one table: name and value to copy, and the record that was found
// only where it differs. A fault that several records share stands once above the table.
import type { DnsRecord } from '../../../../src/identity/domains/schema.ts';
import { html, type Part, together } from '../../html.ts';
import { copy } from '../../parts/copy.ts';
import { icon } from '../../parts/icon.ts';
import { time } from '../../parts/times.ts';
import { state } from '../../states.ts';

const purposes: Readonly<Record<DnsRecord['purpose'], readonly [title: string, term: string]>> = {
  dkim: ['Signature', 'DKIM'],
  spf: ['May send', 'SPF'],
  'return-path': ['Bounces come back', 'return path'],
  dmarc: ['Policy and reports', 'DMARC'],
  mx: ['Mail arrives here', 'MX'],
  tracking: ['Links of your own', 'tracking'],
};

/** Returns a name without the domain; `@` for the domain itself. */
function relativeName(name: string, domain: string): string {
  if (name === domain) return '@';
  return name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : name;
}

const isTodo = ({ status }: DnsRecord) => status !== 'valid';

/** Counts the records to publish, and all records. */
export function countTodo(records: readonly DnsRecord[]): { left: number; all: number } {
  return { left: records.filter(isTodo).length, all: records.length };
}

/** Returns the faults that several records have, each once. */
function faultsOf(records: readonly DnsRecord[]): Set<string> {
  const texts = records.flatMap(({ error, diagnosis }) => (error && diagnosis ? error : []));
  return new Set(texts.filter((text, at) => texts.indexOf(text) !== at));
}

/** Draws the faults that several records share, such as a zone that is delegated elsewhere. */
export function sharedFaults(records: readonly DnsRecord[]): Part {
  return [...faultsOf(records)].map((error) => {
    const remedy = records.find((one) => one.error === error)?.diagnosis?.remedy;
    return html`<aside class="find-out" aria-label="Fault of several records">${icon('warning')}<p><b>${error}</b> ${remedy}</p></aside>`;
  });
}

/** Draws the records of a domain. */
export function recordsTable(
  records: readonly DnsRecord[],
  domain: string,
  { isFull = false } = {},
): Part {
  const shared = faultsOf(records);
  return html`<table class="rows records"><thead><tr><th scope="col">State</th><th scope="col">For</th><th scope="col">Type</th><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
    ${records.map((record) => recordRows(record, isFull ? record.name : relativeName(record.name, domain), shared))}
  </table>`;
}

/** Returns the purpose of a record in words, and its term. */
function purposeOf({ purpose, type, value }: DnsRecord): readonly [title: string, term: string] {
  if (purpose === 'return-path' && type === 'TXT') return ['Return path may send', 'SPF'];
  if (purpose === 'dkim' && value.includes('k=ed25519'))
    return ['Second signature', 'DKIM, Ed25519'];
  return purposes[purpose];
}

function recordRows(record: DnsRecord, name: string, shared: ReadonlySet<string>): Part {
  const { type, value, required, status, keepUntil } = record;
  const [title, term] = purposeOf(record);
  const isShared = record.error !== null && shared.has(record.error);
  return html`<tbody><tr><td>${state(status)}</td>
    <td class="wide"><b>${title}</b> <small>${required && status !== 'valid' && html`<span class="tag">needed</span> `}${term}${isShared && '; see above'}${keepUntil && html`; keep it until ${time(keepUntil)}`}</small></td>
    <td data-l="Type">${type}</td>
    <td class="wide" data-l="Name">${copy(name)}</td>
    <td class="wide" data-l="Value">${copy(value)}</td></tr>
    ${why(record, isShared)}</tbody>`;
}

function why({ value, found, error, diagnosis, advice }: DnsRecord, isShared: boolean): Part {
  const other = found.filter((one) => one !== value);
  const says = isShared ? null : error;
  if (!says && other.length === 0 && advice === undefined) return null;
  return html`<tr class="why"><td colspan="5"><div>
    ${other.length > 0 && html`<p><small>Found instead</small> ${together(...other.map((one) => html`<code>${one}</code> `))}</p>`}
    ${says && html`<p>${says} <b>${diagnosis?.remedy}</b></p>`}
    ${advice !== undefined && html`<p>${advice}</p>`}</div></td></tr>`;
}
