// Flags derived from a schema: their names, descriptions and values.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agesAllowed, flagsOf, readAges } from '../../commands/base/input/schema-flags.ts';
import { emailAddress } from '../../src/core/api/address-schema.ts';
import { wholeNumber } from '../../src/core/api/pagination.ts';
import { queryFlag } from '../../src/core/api/resource-schema.ts';

const schema = z.strictObject({
  externalId: z.string().nullish().meta({ description: 'Your own id, in `full`' }),
  contactId: z.string().optional().meta({ description: 'Contact' }),
  email: emailAddress.meta({ description: 'Address' }),
  isDefault: z.boolean().optional().meta({ description: 'Make it the default' }),
  starred: queryFlag.optional().meta({ description: 'Only starred' }),
  tags: z.array(z.string()).max(3).optional().meta({ description: 'Tags' }),
  categories: z.array(z.string()).optional().meta({ description: 'Categories' }),
  reason: z.enum(['bounce', 'manual']).default('manual').meta({ description: 'Reason' }),
  priority: z.int().min(0).optional().meta({ description: 'Priority' }),
  limit: wholeNumber(1, 100).default(20).meta({ description: 'Items' }),
  since: z.iso.datetime({ offset: true }).optional().meta({ description: 'From this time on' }),
  channel: z.literal('email').optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

const { flags, fields } = flagsOf(schema);

describe('flags of a schema', () => {
  it('have the name of their field in kebab-case', () => {
    expect(fields['external-id']).toBe('externalId');
  });

  it('drop the is of a boolean and the s of a list', () => {
    expect(fields).toMatchObject({ default: 'isDefault', tag: 'tags', category: 'categories' });
  });

  it('leave out fields that one flag cannot express, and fields with one value', () => {
    expect(Object.keys(fields)).toEqual([
      ...['external-id', 'contact-id', 'email', 'default', 'starred', 'tag', 'category'],
      ...['reason', 'priority', 'limit', 'since'],
    ]);
  });

  it.each([
    ['external-id', { type: 'option', description: 'Your own id, in full' }],
    ['contact-id', { helpValue: 'ID' }],
    ['email', { helpValue: 'ADDRESS', description: 'Address' }],
    ['default', { type: 'boolean', allowNo: true }],
    ['starred', { type: 'boolean', description: 'Only starred' }],
    ['tag', { multiple: true, description: 'Tags; may be repeated' }],
    ['reason', { description: 'Reason: bounce or manual (default)' }],
    ['priority', { helpValue: 'N', description: 'Priority' }],
    ['limit', { helpValue: 'N', description: 'Items' }],
    ['since', { helpValue: 'TIME' }],
  ])('--%s is described by its field', (name, wanted) => {
    expect(flags[name]).toMatchObject(wanted);
  });

  it('show none of more than ten choices', () => {
    const letters = z.enum([...'abcdefghijklmn'] as [string, ...string[]]);
    const { letter } = flagsOf(z.object({ letter: letters.meta({ description: 'One' }) })).flags;
    expect(letter).toMatchObject({ description: 'One' });
  });

  it('take the name that the command gives, and null for none', () => {
    const named = flagsOf(schema, { email: 'to', contactId: null }, ['reason']).fields;
    expect(named.to).toBe('email');
    expect(Object.values(named)).not.toContain('contactId');
  });

  it('leave out fields that are arguments', () => {
    expect(flagsOf(schema, {}, ['reason']).fields).not.toHaveProperty('reason');
  });
});

describe('ages', () => {
  it('are said in the description of their flag alone', () => {
    const described = agesAllowed({ flags, fields }, ['since']);
    expect(described.since).toMatchObject({
      description: 'From this time on, or an age: 90s, 10m, 1h or 7d',
    });
    expect(described.limit).toEqual(flags.limit);
  });

  it('become instants', () => {
    const { since } = readAges({ since: '1h', limit: '5' }, { flags, fields }, ['since']);
    const age = Date.now() - Date.parse(String(since));
    expect(age).toBeGreaterThanOrEqual(3_600_000);
    expect(age).toBeLessThan(3_660_000);
  });
});
