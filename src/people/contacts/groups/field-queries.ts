// SQL that compares a field of a contact, for contact groups that a query defines. A condition is
// true or false, never null, so that `not` is exact. Every value of a caller is a parameter.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { foldAddress } from '../../../platform/net/address.ts';
import { type Db, engineOf, isOneOf } from '../../../platform/store/db.ts';
import type { ContactQuery } from './query-schema.ts';

type Condition = RawBuilder<SqlBool>;
type Expression = RawBuilder<unknown>;

const dayMs = 24 * 3_600_000;

const lower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Returns SQL for a text with only A to Z in lower case, alike on both engines. */
export function lowered(db: Db, text: Expression): Expression {
  return engineOf(db) === 'postgres' ? sql`lower((${text}) collate "C")` : sql`lower(${text})`;
}

/** Returns SQL for the position of a part in a text, from 1; 0 if the text lacks the part. */
function placeOf(db: Db, text: Expression, part: string): Expression {
  return engineOf(db) === 'postgres' ? sql`strpos(${text}, ${part})` : sql`instr(${text}, ${part})`;
}

/**
 * Returns the condition that a text contains a part. Unlike in `like`, no character is a wildcard.
 */
export function has(db: Db, text: Expression, part: string): Condition {
  return sql`${placeOf(db, text, part)} > 0`;
}

/** Returns the condition that a text begins with `part`. */
function begins(db: Db, text: Expression, part: string): Condition {
  return sql`${placeOf(db, text, part)} = 1`;
}

/** Returns the condition that a text is in a list. */
function isAmong(db: Db, text: Expression, list: readonly string[]): Condition {
  const [operator, operand] = isOneOf(db, list);
  return sql`${text} ${operator} ${operand}`;
}

/** Returns the condition that a text begins with a date before, or after, a day of the query. */
function isOnDay(db: Db, text: Expression, { before, after }: ContactQuery): Condition {
  const isPostgres = engineOf(db) === 'postgres';
  const isDate = isPostgres
    ? sql`${text} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}'`
    : sql`${text} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'`;
  const order = before === undefined ? sql`>` : sql`<`;
  const bytewise = isPostgres ? sql`collate "C"` : sql``;
  return sql`${isDate} and substr(${text}, 1, 10) ${bytewise} ${order} ${before ?? after}`;
}

/** Escapes a text as in JSON, without the quotes around it. */
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** Returns SQL for a field of a JSON column as text; null if the JSON lacks the field. */
function textOf(db: Db, json: Expression, path: readonly string[]): Expression {
  return engineOf(db) === 'postgres'
    ? sql`(${json}::json #>> ${path}::text[])`
    : sql`(${json} ->> ${`$${path.map((name) => `.${JSON.stringify(name)}`).join('')}`})`;
}

/** Returns the JSON column of a field, and the path in it. A custom field may have dots. */
function placeOfField(field: string): { json: Expression; path: string[] } {
  const [column = '', first = '', ...rest] = field.split('.');
  const path = first === 'customFields' ? [first, rest.join('.')] : [first, ...rest];
  return {
    json: column === 'preferences' ? sql`contacts.preferences` : sql`contacts.profile`,
    path,
  };
}

/**
 * Returns the condition on a field in JSON. Searches the JSON as text first, because most contacts
 * lack the name or the value, and parsing takes ten times as long.
 */
function jsonCondition(db: Db, field: string, query: ContactQuery): Condition {
  const { json, path } = placeOfField(field);
  const text = textOf(db, json, path);
  const named = has(db, json, `${JSON.stringify(path.at(-1))}:`);
  const { is, in: list, contains, startsWith, before, after } = query;
  if (is !== undefined) {
    return sql`(${named} and ${has(db, json, JSON.stringify(is))} and ${text} = ${is}) is true`;
  }
  if (list !== undefined) return sql`(${named} and ${isAmong(db, text, list)}) is true`;
  if (contains !== undefined) {
    const part = lower(contains);
    const found = has(db, lowered(db, json), inJson(part));
    return sql`(${named} and ${found} and ${has(db, lowered(db, text), part)}) is true`;
  }
  if (startsWith !== undefined) {
    const part = lower(startsWith);
    const found = has(db, lowered(db, json), `"${inJson(part)}`);
    return sql`(${named} and ${found} and ${begins(db, lowered(db, text), part)}) is true`;
  }
  if (before !== undefined || after !== undefined) {
    return sql`(${named} and ${isOnDay(db, text, query)}) is true`;
  }
  return sql`(${named} and ${text} is not null) is true`;
}

/** Returns the condition on the first address of a contact, to which mail is sent; ignores case. */
function emailCondition(db: Db, query: ContactQuery, contactId: Expression): Condition {
  const email = sql`(select first.folded_identifier from contact_identities first
    where first.contact_id = ${contactId} and first.position = 0)`;
  const { is, in: list, contains, startsWith } = query;
  if (is !== undefined) return sql`(${email} = ${foldAddress(is)}) is true`;
  if (list !== undefined) return sql`(${isAmong(db, email, list.map(foldAddress))}) is true`;
  if (contains !== undefined) return sql`(${has(db, email, foldAddress(contains))}) is true`;
  if (startsWith !== undefined) return sql`(${begins(db, email, foldAddress(startsWith))}) is true`;
  return sql`(${email} is not null)`;
}

/** Returns the condition that a time of the contact is before, or after, a day in UTC. */
function timeCondition(time: Expression, { before, after }: ContactQuery): Condition {
  if (before !== undefined) return sql`(${time} < ${Date.parse(before)})`;
  return sql`(${time} >= ${Date.parse(after ?? '') + dayMs})`;
}

/** Returns the condition on a row of `contacts` for a comparison of a field. */
export function fieldCondition(
  db: Db,
  field: string,
  { isNot, exists, ...query }: ContactQuery,
  contactId: Expression,
): Condition {
  const compared = isNot === undefined ? query : { ...query, is: isNot };
  const isNegated = isNot !== undefined || exists === false;
  const condition = () => {
    if (field === 'createdAt') return timeCondition(sql`contacts.created_at`, compared);
    if (field === 'updatedAt') return timeCondition(sql`contacts.updated_at`, compared);
    if (field === 'email') return emailCondition(db, compared, contactId);
    return jsonCondition(db, field, compared);
  };
  return isNegated ? sql`not ${condition()}` : condition();
}
