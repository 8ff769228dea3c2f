// The log of changes in sentences: caller, action, resource, and the values before and after.
import { auditRoutes } from '../../http/routes.ts';
import { html, type Part } from '../html.ts';
import type { Asked, Page, View } from '../page.ts';
import { filterRow } from '../parts/filter-row.ts';
import { link } from '../parts/link.ts';
import { type List, table } from '../parts/table.ts';
import { time } from '../parts/times.ts';
import { addressPart } from '../parts/who.ts';

type Entry = Awaited<ReturnType<typeof auditRoutes.list.run>>['items'][number];

const longestValue = 80;
const mostFields = 4;

/** Verbs that differ from the last word of an action. */
const verbs: Readonly<Record<string, string>> = {
  updated: 'changed',
  deleted: 'removed',
  created: 'made',
};

/** Pages of resources, by the kind of resource. */
const paths: Readonly<Record<string, string>> = {
  key: '/keys',
  domain: '/domains',
  sender: '/senders',
  webhook: '/webhooks',
  template: '/templates',
  brand: '/brands',
  campaign: '/campaigns',
  contact: '/contacts',
  conversation: '/conversations',
  message: '/messages',
};

/** Fields of the details by which people know a resource, the best first. */
const names = [
  'name',
  'domain',
  'email',
  'address',
  'subject',
  'slug',
  'displayName',
  'title',
  'campaign',
  'url',
];

const isChange = (value: unknown): value is { before: unknown; after: unknown } =>
  typeof value === 'object' && value !== null && 'before' in value && 'after' in value;

/** Returns the name of a field in words: `dailyGrowthPercent` is "daily growth percent". */
const fieldWords = (field: string) =>
  field.replace(/Ids?$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const isId = (value: unknown) => typeof value === 'string' && /^[a-z]+_[0-9a-z]{20,}$/.test(value);

/** Returns a value as people read it: lists with commas, the fields of an object by name. */
function wordsOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing';
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (isId(value)) return '1 chosen';
  if (Array.isArray(value) && value.some(isId)) return `${value.length} chosen`;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(wordsOf).join(', ');
  if (typeof value !== 'object') return `${value}`;
  const told = Object.entries(value).filter(([, one]) => !Array.isArray(one) || one.length > 0);
  return told.map(([field, one]) => `${fieldWords(field)} ${wordsOf(one)}`).join('; ');
}

function textOf(value: unknown): string {
  const text = wordsOf(value);
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

/** Returns the name of a resource; null where the entry does not have it. */
function nameOf({ details }: Entry): string | null {
  for (const field of names) {
    const value = details?.[field];
    if (typeof value === 'string') return value;
    if (isChange(value) && typeof value.after === 'string') return value.after;
  }
  return null;
}

function whoOf({ actor }: Entry): string {
  if (actor.type === 'operator') return 'The operator';
  if (actor.type === 'service') return 'The service';
  return actor.memberName ?? actor.keyName ?? actor.type;
}

/** Draws a change as a sentence. */
function sentence(entry: Entry): Part {
  const { action, resource } = entry;
  const verb = action.slice(action.indexOf('.') + 1);
  const noun = resource.type.replaceAll('-', ' ');
  const name = nameOf(entry);
  const article = name === null ? 'a' : 'the';
  const path = Object.hasOwn(paths, resource.type) ? paths[resource.type] : undefined;
  const isGone = verb === 'deleted';
  const shown = name === null ? noun : html`${noun} ${addressPart(name)}`;
  const target =
    path === undefined || isGone
      ? html`<span title=${resource.id}>${shown}</span>`
      : link(`${path}/${resource.id}`, shown);
  const known = verbs[verb];
  return known === undefined
    ? html`<p><b>${whoOf(entry)}</b>: ${target}, ${verb.replaceAll('-', ' ')}</p>`
    : html`<p><b>${whoOf(entry)}</b> ${known} ${article} ${target}</p>`;
}

/** Draws the changed fields with their values before and after. */
function fieldsOf({ details }: Entry): Part {
  const fields = Object.entries(details ?? {}).filter(
    ([field, value]) => isChange(value) || !(names.includes(field) || isId(value)),
  );
  if (fields.length === 0) return null;
  const one = ([field, value]: [string, unknown]) =>
    isChange(value)
      ? html`<li>${fieldWords(field)}: ${textOf(value.before)} → ${textOf(value.after)}</li>`
      : html`<li>${fieldWords(field)}: ${addressPart(textOf(value))}</li>`;
  const more = fields.length - mostFields;
  return html`<small><ul>${fields.slice(0, mostFields).map(one)}${more > 0 && html`<li>and ${more} more</li>`}</ul></small>`;
}

async function show(asked: Asked): Promise<View> {
  const { action, resource, since, cursor } = asked.query;
  const found: List<Entry> = await asked.ask(auditRoutes.list, {
    query: { action, resource, since, cursor },
  });
  return {
    title: 'Changes',
    below: 'Who changed what, newest first. Mail that was sent stands under Messages.',
    body: html`${filterRow(asked, {
      chips: [
        { name: 'since', label: 'Since', type: 'date', value: since },
        { name: 'action', label: 'Kind, such as key.created', value: action },
        { name: 'resource', label: 'Id of what was changed', value: resource },
      ],
    })}
    ${table(
      asked,
      found,
      [
        { head: 'Change', cell: sentence },
        { head: 'From and to', cell: fieldsOf, isWide: true },
        { head: 'When', cell: ({ createdAt }) => time(createdAt) },
      ],
      'No change fits.',
    )}`,
    command: 'svc audit',
    request: 'GET /v1/audit',
  };
}

export const changePages: readonly Page[] = [
  { path: '/changes', needs: 'organization:read', show },
];
