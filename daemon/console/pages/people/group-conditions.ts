// The query of a group as rows of conditions, and back. A query with nested nodes has no rows and
// stays JSON.
import type { ContactQuery } from '../../../../src/people/contacts/groups/query-schema.ts';
import type { Form } from '../../page.ts';

/** A condition as a person chooses it. */
export interface Condition {
  /** Tag, status, a field of the contact, or an activity. */
  what: string;
  how: string;
  value: string;
}

/** Fields that a condition may name, with their words. */
export const subjects: readonly (readonly [what: string, word: string])[] = [
  ['tag', 'Tag'],
  ['status', 'State'],
  ['email', 'Address'],
  ['profile.firstName', 'First name'],
  ['profile.lastName', 'Last name'],
  ['profile.company', 'Company'],
  ['profile.jobTitle', 'Job'],
  ['profile.source', 'Source'],
  ['profile.location.country', 'Country'],
  ['profile.location.city', 'City'],
  ['preferences.language', 'Language'],
  ['createdAt', 'Known since'],
  ['opened', 'Opened mail, within days'],
  ['clicked', 'Clicked, within days'],
  ['received', 'Got mail, within days'],
];

/** Comparisons that a row offers, each with the words on the page. */
export const comparisons: readonly (readonly [how: string, word: string])[] = [
  ['is', 'is'],
  ['isNot', 'is not'],
  ['contains', 'contains'],
  ['startsWith', 'begins with'],
  ['before', 'is before'],
  ['after', 'is after'],
  ['exists', 'is known'],
  ['missing', 'is not known'],
];

const activities = ['opened', 'clicked', 'received'] as const;
const compared = ['is', 'isNot', 'contains', 'startsWith', 'before', 'after'] as const;

function conditionOf(node: ContactQuery): Condition | null {
  const { tag, status, field, not, exists } = node;
  if (tag !== undefined) return { what: 'tag', how: 'is', value: tag };
  if (status !== undefined) return { what: 'status', how: 'is', value: status };
  if (not !== undefined) {
    const inner = conditionOf(not);
    const isSimple = inner?.how === 'is' && ['tag', 'status', ...activities].includes(inner.what);
    return inner && isSimple ? { ...inner, how: 'isNot' } : null;
  }
  if (field !== undefined) {
    if (exists !== undefined) return { what: field, how: exists ? 'exists' : 'missing', value: '' };
    const how = compared.find((name) => node[name] !== undefined);
    return how === undefined ? null : { what: field, how, value: node[how] ?? '' };
  }
  const activity = activities.find((name) => node[name] !== undefined);
  const given = activity && node[activity];
  if (!activity || !given || given.campaignId !== undefined) return null;
  return { what: activity, how: 'is', value: String(given.withinDays) };
}

/** The rows of a query; `join` tells whether all or any of them must hold. */
export interface Rows {
  join: 'all' | 'any';
  conditions: Condition[];
}

/** Returns the rows of a query; null for a query that needs more than rows. */
export function rowsOf(query: ContactQuery): Rows | null {
  const join = query.any ? 'any' : 'all';
  const nodes = query.any ?? query.all ?? [query];
  const conditions = nodes.map(conditionOf);
  const known = conditions.flatMap((condition) =>
    condition !== null && subjects.some(([what]) => what === condition.what) ? [condition] : [],
  );
  return known.length === nodes.length ? { join, conditions: known } : null;
}

function nodeOf({ what, how, value }: Condition): object {
  const negated = (node: object) => (how === 'isNot' ? { not: node } : node);
  if (what === 'tag') return negated({ tag: value });
  if (what === 'status') return negated({ status: value });
  if ((activities as readonly string[]).includes(what)) {
    return negated({ [what]: { withinDays: Number(value) } });
  }
  if (how === 'exists' || how === 'missing') return { field: what, exists: how === 'exists' };
  return { field: what, [how]: value };
}

/** Returns the query of rows; the route checks it. */
export const queryOf = ({ join, conditions }: Rows): object => ({ [join]: conditions.map(nodeOf) });

const mostRows = 50;

/** Returns the rows of a form. Leaves out rows that lack a value which the comparison needs. */
export function rowsIn(given: Form): Rows {
  const conditions: Condition[] = [];
  for (let at = 0; at < mostRows; at++) {
    const what = given[`what.${at}`];
    if (what === undefined) break;
    const how = given[`how.${at}`] || 'is';
    const value = given[`value.${at}`]?.trim() ?? '';
    const isWhole = value !== '' || how === 'exists' || how === 'missing';
    if (what !== '' && isWhole) conditions.push({ what, how, value });
  }
  return { join: given['join'] === 'any' ? 'any' : 'all', conditions };
}

/** Returns form fields `what.0`, `how.0`, `value.0`, … and `join`, which `rowsIn` reads back. */
export function formOfRows({ join, conditions }: Rows): Form {
  const fields = conditions.flatMap(({ what, how, value }, at) => [
    [`what.${at}`, what],
    [`how.${at}`, how],
    [`value.${at}`, value],
  ]);
  return { join, ...Object.fromEntries(fields) };
}
