// Constraints of keys at the command line: the object of the API, exit codes.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApiKey } from '../../../src/access/keys/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

it('the --allow flags replace the constraints, and --data null removes them', async () => {
  const made = await cli.json<ApiKey>([
    ...['keys', 'create', '--allow-sender', 'a@example.com', '--allow-sender', 'b@example.com'],
    ...['--allow-domain', 'Example.ORG', '--allow-ip', '203.0.113.7'],
  ]);
  expect(made.constraints).toEqual({
    senders: ['a@example.com', 'b@example.com'],
    domains: ['example.org'],
    ipRanges: ['203.0.113.7/32'],
  });
  const update = ['keys', 'update', made.id];
  const replaced = await cli.json<ApiKey>([...update, '--allow-ip', '2001:db8::/32']);
  expect(replaced.constraints).toEqual({ ipRanges: ['2001:db8::/32'] });
  const freed = await cli.json<ApiKey>([...update, '--data', '{"constraints":null}']);
  expect(freed.constraints).toBeNull();
});

it('a malformed range ends with 2 and names its field', async () => {
  const refused = await cli.run(['keys', 'create', '--allow-ip', '10.0.0.5/8', '--json']);
  expect(refused.code).toBe(2);
  expect(JSON.parse(refused.stderr)).toMatchObject({
    _tag: 'ValidationError',
    fields: { 'constraints.ipRanges.0': [expect.stringContaining('10.0.0.0/8')] },
  });
});
