// Names of operations for clients and agents (src/core/api/operation-name.ts), for every route.
import { expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { operationNames, snakeName } from '../../../src/core/api/operation-name.ts';

const names = [...operationNames(routes).values()];

it('repeats no resource in a verb', () => {
  const repeated = names.filter(({ resource, verb }) =>
    verb.toLowerCase().includes(resource.toLowerCase()),
  );
  expect(repeated).toEqual([]);
});

it('names a resource and a verb', () => {
  const tools = names.map(snakeName);
  expect(tools).toEqual(
    expect.arrayContaining(['messages_send', 'threads_list', 'saved_replies_list', 'brands_list']),
  );
});
