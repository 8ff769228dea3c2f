// The query of a group as input: each problem names its place in the tree.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseWith } from '../../../../src/core/api/validate.ts';
import {
  type ContactQuery,
  campaignsIn,
  contactQuery,
} from '../../../../src/people/contacts/groups/query-schema.ts';
import type { ValidationError } from '../../../../src/platform/errors.ts';

function problemsOf(query: unknown): string[] {
  try {
    parseWith(z.strictObject({ query: contactQuery }), { query }, 'body');
    return [];
  } catch (error) {
    const { fieldErrors = {} } = error as ValidationError;
    return Object.entries(fieldErrors).map(([field, texts]) => `${field}: ${texts.join('; ')}`);
  }
}

const vip = { tag: 'vip' };
const many = (count: number) => Array.from({ length: count }, () => vip);
const company = 'profile.company';
function nested(depth: number): object {
  let query: object = vip;
  for (let level = 1; level < depth; level++) query = { not: query };
  return query;
}
const needs = 'needs one of all, any, not, tag, status, field, opened, clicked, received';
const campaignId = 'camp_06dq2k0qz8h3v5m1r9t4w7xy';

describe('the query of a group', () => {
  it.each([
    ['text', "tag = 'vip'", 'query: must be an object, not a string'],
    ['null', null, 'query: must be an object, not null'],
    ['a list', [vip], 'query: must be an object, not a list'],
    ['an empty object', {}, `query: ${needs}`],
    ['an empty list', { all: [] }, 'query.all: must not be empty'],
    ['one condition instead of a list', { any: vip }, 'query.any: must be a list, not an object'],
    ['a list below not', { not: [vip] }, 'query.not: must be an object, not a list'],
    ['an empty condition', { all: [vip, {}] }, `query.all.1: ${needs}`],
    ['null as a condition', { all: [vip, null] }, 'query.all.1: must be an object, not null'],
    [
      'an unknown condition',
      { all: [{ tags: ['vip'] }] },
      'query.all.0.tags: unknown field; did you mean query.all.0.tag?',
    ],
    [
      'two conditions in one',
      { all: [vip, { tag: 'a', status: 'active' }] },
      'query.all.1.status: cannot stand beside tag: join both by all or any',
    ],
    ['a list beside a condition', { all: [vip], tag: 'a' }, 'query.tag: cannot stand beside all'],
    ['a tag with a comma', { all: [{ tag: 'a,b' }] }, 'query.all.0.tag: must have no comma'],
    ['an unknown status', { status: 'gone' }, 'query.status: must be "active", "unsubscribed"'],
    ['a comparison without a field', { is: 'Acme' }, 'query.is: needs a field to compare'],
    [
      'a field without a comparison',
      { field: company },
      'query: needs one of is, isNot, in, contains, startsWith, before, after, exists',
    ],
    ['a comparison beside a tag', { tag: 'a', is: 'b' }, 'query.is: compares a field only'],
    [
      'two comparisons',
      { any: [vip, { field: company, is: 'a', contains: 'b' }] },
      'query.any.1.contains: is a second comparison: join two conditions by all or any',
    ],
    [
      'an unknown field',
      { all: [vip, { field: 'company', is: 'a' }] },
      'query.all.1.field: must be a field',
    ],
    [
      'SQL as a field',
      { field: "profile.company' or 1=1", is: 'a' },
      'query.field: must be a field',
    ],
    [
      'an empty custom field',
      { field: 'profile.customFields.', is: 'a' },
      'query.field: must be a field',
    ],
    [
      'a whole location',
      { field: 'profile.location', exists: true },
      'query.field: must be a field',
    ],
    ['a number as value', { field: company, is: 7 }, 'query.is: must be a string, not a number'],
    ['an empty part', { field: company, contains: '' }, 'query.contains: must not be empty'],
    [
      'a long value',
      { field: company, is: 'a'.repeat(2_001) },
      'query.is: must have at most 2000 characters',
    ],
    [
      'a day in words',
      { field: company, before: 'tomorrow' },
      'query.before: must be a date (YYYY-MM-DD)',
    ],
    [
      'a day that does not exist',
      { field: company, after: '2026-02-30' },
      'query.after: must be a date',
    ],
    [
      'an instant',
      { field: company, after: '2026-02-03T00:00:00Z' },
      'query.after: must be a date',
    ],
    [
      'a text compared with a time',
      { field: 'createdAt', is: '2026-05-01' },
      'query.is: cannot compare createdAt: use before, after',
    ],
    [
      'a time that may be missing',
      { field: 'updatedAt', exists: true },
      'query.exists: cannot compare updatedAt: use before, after',
    ],
    [
      'an address before a day',
      { all: [{ field: 'email', before: '2026-05-01' }] },
      'query.all.0.before: cannot compare email: use is, isNot, in, contains, startsWith, exists',
    ],
    ['an empty list of values', { field: company, in: [] }, 'query.in: must not be empty'],
    [
      'a value instead of a list',
      { field: company, in: 'Acme' },
      'query.in: must be a list, not a string',
    ],
    [
      '101 values',
      { field: company, in: Array.from({ length: 101 }, () => 'a') },
      'query.in: must have at most 100',
    ],
    ['an empty beginning', { field: company, startsWith: '' }, 'query.startsWith: must not be'],
    ['all preferences', { field: 'preferences', exists: true }, 'query.field: must be a field'],
    ['exists as text', { field: company, exists: 'yes' }, 'query.exists: must be true or false'],
    [
      'an id of another kind',
      { opened: { campaignId: 'msg_1', withinDays: 1 } },
      'query.opened.campaignId: ',
    ],
    ['no days', { clicked: { campaignId } }, 'query.clicked.withinDays: is required'],
    [
      '0 days',
      { received: { campaignId, withinDays: 0 } },
      'query.received.withinDays: must be at least 1',
    ],
    [
      '3,651 days',
      { received: { campaignId, withinDays: 3_651 } },
      'query.received.withinDays: must be at most 3650',
    ],
    [
      'half days',
      { opened: { campaignId, withinDays: 1.5 } },
      'query.opened.withinDays: must be a whole',
    ],
    ['6 levels', nested(6), 'query: must be at most 5 levels deep'],
    ['10,000 levels', nested(10_000), 'query: must be at most 5 levels deep'],
    ['51 conditions', { all: many(51) }, 'query: must have at most 50 conditions'],
    [
      '51 conditions in two lists',
      { all: [{ any: many(25) }, { not: { any: many(26) } }] },
      'query: must have at most 50 conditions',
    ],
    ['51 empty lists', { all: many(51).map(() => ({ all: [] })) }, 'query: must have at most 50'],
    [
      'more than 16 KB',
      { all: many(9).map(() => ({ field: company, is: 'a'.repeat(2_000) })) },
      'query: is longer than 16 KB of JSON',
    ],
    [
      'NUL in a value',
      { all: [{ field: company, is: 'a\0b' }] },
      'query.all.0.is: must not contain NUL',
    ],
  ])('refuses %s', (_what, query, problem) => {
    expect(problemsOf(query)[0]).toContain(problem);
  });

  it('refuses a million conditions in no time', () => {
    const query = { all: Array.from({ length: 1_000_000 }, () => ({ tags: 7 })) };
    const start = performance.now();
    expect(problemsOf(query)).toEqual(['query: must have at most 50 conditions']);
    expect(performance.now() - start).toBeLessThan(100);
  });

  it('takes 50 conditions in 5 levels', () => {
    const leaves = { all: many(49).concat([]) };
    const query = { any: [leaves, { not: { all: [{ any: [vip] }] } }] };
    expect(problemsOf(query)).toEqual([]);
  });

  it('takes each condition', () => {
    const all: ContactQuery[] = [
      ...[vip, { status: 'active' as const }, { field: 'profile.location.city', is: 'Paris' }],
      { field: 'profile.customFields.a "strange".name', contains: '%' },
      { field: 'profile.customFields.born', before: '2000-02-29' },
      ...[
        { field: company, after: '2026-01-01' },
        { field: company, exists: false },
      ],
      ...[
        { field: 'email', isNot: 'ada@example.com' },
        { field: 'email', in: ['ada@example.com', 'bob@example.com'] },
        { field: 'email', startsWith: 'ada' },
      ],
      ...[
        { field: 'createdAt', after: '2026-04-30' },
        { field: 'updatedAt', before: '2026-05-01' },
        { field: 'preferences.language', is: 'de' },
      ],
      ...(['opened', 'clicked', 'received'] as const).flatMap((way) => [
        { [way]: { campaignId, withinDays: 30 } },
        { [way]: { withinDays: 30 } },
      ]),
    ];
    expect(problemsOf({ all })).toEqual([]);
  });

  it('lists each campaign that it names once', () => {
    const opened = (id: string) => ({ opened: { campaignId: id, withinDays: 1 } });
    const received = { received: { campaignId: 'camp_c', withinDays: 1 } };
    const query = {
      all: [
        vip,
        { opened: { withinDays: 1 } },
        opened('camp_a'),
        { any: [{ not: opened('camp_b') }, opened('camp_a')] },
      ],
    };
    expect(campaignsIn(query)).toEqual(['camp_a', 'camp_b']);
    expect(campaignsIn(received)).toEqual(['camp_c']);
  });
});
