// The nouns of all routes: their names, the prefixes of their ids, and their changes in the audit;
// and the five routes that follow from a noun.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { auditRoutes, routes } from '../../daemon/http/routes.ts';
import { area } from '../../src/core/api/area.ts';
import { noun } from '../../src/core/api/noun.ts';
import { nounRoutes } from '../../src/core/api/noun-routes.ts';
import { pageQuery } from '../../src/core/api/pagination.ts';
import { ConflictError } from '../../src/platform/errors.ts';
import { idPrefixes } from '../../src/platform/runtime/ids.ts';

const nouns = [...new Set(routes.flatMap((route) => route.noun ?? []))];

describe('the nouns of the service', () => {
  it('have names and prefixes of their own', () => {
    expect(nouns.length).toBeGreaterThanOrEqual(9);
    expect(new Set(nouns.map(({ name }) => name)).size).toBe(nouns.length);
    expect(new Set(nouns.map(({ prefix }) => prefix)).size).toBe(nouns.length);
  });

  it('share a prefix with no other kind of ids', () => {
    const others = new Map<string, string>(
      Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind.toLowerCase()]),
    );
    for (const { name, prefix } of nouns) {
      expect(others.get(prefix) ?? name.replace('-', '')).toBe(name.replace('-', ''));
    }
  });

  it('have all their changes in the filter of the audit', () => {
    const { query } = auditRoutes.list;
    for (const { created, updated, deleted } of nouns) {
      for (const action of [created, updated, deleted]) {
        expect(query?.safeParse({ action }).success).toBe(true);
      }
    }
    expect(query?.safeParse({ action: 'sender.forgotten' }).success).toBe(false);
  });
});

describe('the routes of a noun', () => {
  const output = z.object({ id: z.string() });
  const body = z.strictObject({ name: z.string() });
  const id = 'lbl_0123456789abcdefghjk';
  const at = area('labels', { resource: 'contacts', noun: noun('label', 'lbl') });
  const made = nounRoutes(at, '/v1/labels', {
    one: 'a label',
    many: 'labels',
    output,
    list: {
      query: z.strictObject(pageQuery),
      run: async (_app, _caller, { page, limit }) => {
        return { items: [], pagination: { page, limit, total: 0, totalPages: 0 } };
      },
    },
    create: { throws: [ConflictError], body, run: async () => ({ id }) },
    get: { run: async (_app, _caller, asked) => ({ id: asked }) },
    update: { body, run: async (_app, _caller, asked) => ({ id: asked }) },
    delete: {
      summary: 'Delete a label; its contacts stay',
      run: async () => ({ success: true, message: '' }),
    },
  });

  it('have names and summaries of the noun', () => {
    const words = Object.values(made).map(({ name, summary }) => [name, summary]);
    expect(words).toEqual([
      ['listLabels', 'List labels, newest first'],
      ['createLabel', 'Create a label'],
      ['getLabel', 'Show a label'],
      ['updateLabel', 'Change a label'],
      ['deleteLabel', 'Delete a label; its contacts stay'],
    ]);
  });

  it('have the permission and the status of their method', () => {
    const facts = Object.values(made).map(({ permission, status }) => [permission, status]);
    expect(facts).toEqual([
      ['contacts:read', 200],
      ['contacts:write', 201],
      ['contacts:read', 200],
      ['contacts:write', 200],
      ['contacts:delete', 200],
    ]);
    expect(made.create.errors).toEqual([409]);
  });

  it('take an id of the noun only', () => {
    expect(made.get.params?.safeParse({ id }).success).toBe(true);
    const { error } = made.get.params?.safeParse({ id: 'msg_0123456789abcdefghjk' }) ?? {};
    expect(error?.issues[0]?.message).toBe('is not a label id');
  });
});
