// Idempotency keys of held keys: those that are bound to mailboxes or do not send at once. Their
// claims stand apart from those of their organization, on every route that takes an idempotency key
// and that they reach.
import { describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { claimKeyOf, refusedAtPlace } from '../../../src/access/keys/constraints.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import type { Caller, Route } from '../../../src/core/api/route.ts';

const mailboxId = 'mbx_06dq2k0qz8h3v5m1r9t4w7xy';
const whole: Caller = {
  ...operatorOf('org_1'),
  by: { kind: 'key', keyId: 'key_1' },
  keyId: 'key_1',
  lineage: 'key_1',
  owner: 'service',
};
const bound: Caller = { ...whole, constraints: { mailboxIds: [mailboxId] } };
const held: [string, Caller][] = [
  ['a bound key', bound],
  ['a proposing key', { ...bound, sendMode: 'approval' }],
  [
    'an installation that proposes',
    { ...whole, sendMode: 'approval', installation: { id: 'exti_1', events: [] } },
  ],
  ['an installation that never sends', { ...whole, sendMode: 'none' }],
];

/** Whether a request has an idempotency key, in its header or its body. */
function takesKey({ headers, body }: Route): boolean {
  const names = [headers, body].flatMap((schema) =>
    schema && 'shape' in schema ? Object.keys(schema.shape as object) : [],
  );
  return names.some((name) => name === 'idempotency-key' || name === 'idempotencyKey');
}

/** Routes that claim by `claimKeyOf`, so that held keys may reach them. */
const apart = [
  /^POST \/v1\/mailboxes\/\{id\}\/messages$/,
  /^POST \/v1\/mailboxes\/\{id\}\/messages\/\{messageId\}\/(?:reply|reply-all|forward)$/,
  /^POST \/v1\/mailboxes\/\{id\}\/drafts\/\{draftId\}\/send$/,
  /^(?:PUT|POST) \/v1\/templates\/\{id\}\/workspace\/(?:files|save|discard|restore)$/,
];

describe.each(held)('the idempotency keys of %s', (_name, caller) => {
  it('reach only routes that keep them apart', () => {
    const reached = routes
      .filter(takesKey)
      .filter(({ method, path, permission }) => {
        const id = path.startsWith('/v1/mailboxes/{id}') ? mailboxId : undefined;
        return refusedAtPlace(caller, permission, { method, path, id }) === null;
      })
      .map(({ method, path }) => `${method} ${path}`);
    expect(reached.filter((route) => !apart.some((one) => one.test(route)))).toEqual([]);
    expect(routes.filter(takesKey).length).toBeGreaterThan(reached.length);
  });

  it('equal none that a request can have', () => {
    const claim = claimKeyOf(caller, 'k');
    expect(claim.length).toBeGreaterThan(255);
    expect(claimKeyOf({ ...caller, lineage: 'key_2' }, 'k')).not.toBe(claim);
    expect(claimKeyOf(whole, 'k')).toBe('k');
  });
});
