// The part of an event that an installation sees: each kind with each single permission, as a table
// of its own says; without the permission only ids, whatever the data holds.
import { describe, expect, it } from 'vitest';
import { eventKinds } from '../../../daemon/http/event-kinds.ts';
import { permissionMapOf } from '../../../src/access/keys/roles.ts';
import { everyPermission, type Permission } from '../../../src/core/api/permission.ts';
import { isShown, shownData } from '../../../src/history/events/shown-data.ts';
import { anyIdPattern } from '../../../src/platform/runtime/ids.ts';

/** The permission that shows each kind, by the beginning of its name. */
const shownBy: readonly [RegExp, Permission][] = [
  [/^message\./, 'messages:read'],
  [/^mailbox\./, 'mailboxes:read'],
  [/^domain\./, 'domains:read'],
  [/^warming\./, 'domains:read'],
  [/^sender\./, 'senders:read'],
  [/^workspace\./, 'organization:read'],
  [/^contact\./, 'contacts:read'],
  [/^conversation\./, 'conversations:read'],
  [/^template\./, 'templates:read'],
  [/^campaign\./, 'campaigns:read'],
  [/^extension\./, 'extensions:read'],
  [/^service\./, 'organization:read'],
  [/^webhook\.(?!test$)/, 'webhooks:read'],
];

const permissions = everyPermission();

/** Finds the values in data, with the names of their fields. */
function leavesOf(value: unknown, name = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[name, value]];
  return Object.entries(value).flatMap(([field, one]) =>
    leavesOf(one, Array.isArray(value) ? name : field),
  );
}

describe.each(eventKinds.map(({ type, sample }) => ({ type, sample: sample as object })))(
  '$type',
  ({ type, sample }) => {
    const [, needed] = shownBy.find(([pattern]) => pattern.test(type)) ?? [];

    it('is shown whole by one permission alone', () => {
      const whole = permissions.filter((one) => isShown(type, permissionMapOf([one])));
      expect(whole).toEqual(needed === undefined ? permissions : [needed]);
      if (needed) expect(shownData(type, sample, permissionMapOf([needed]))).toBe(sample);
    });

    it('has only ids without it', () => {
      if (needed === undefined) return;
      const cut = shownData(
        type,
        sample,
        permissionMapOf(permissions.filter((one) => one !== needed)),
      );
      for (const [name, value] of leavesOf(cut)) {
        if (name === 'deleted') continue;
        expect([name, value]).toEqual([
          expect.stringMatching(/^id$|Ids?$/),
          expect.stringMatching(anyIdPattern),
        ]);
      }
      const own = (sample as { id?: string }).id;
      if (own !== undefined) expect(cut).toMatchObject({ id: own });
    });

    it('shows no text of its resource without it', () => {
      if (needed === undefined) return;
      const mark = 'secret of the resource';
      const marked = JSON.parse(JSON.stringify(sample), (name, value: unknown) =>
        typeof value === 'string' && !(/^id$|Ids?$/.test(name) && anyIdPattern.test(value))
          ? mark
          : value,
      ) as object;
      const ours = 'msg_06dq2k0qz8h3v5m1r9t4w7xy';
      const fields = { ...marked, id: mark, externalId: ours, noteIds: [mark], list: [marked] };
      const text = JSON.stringify(shownData(type, fields, {}));
      expect(text).not.toContain(mark);
      expect(text).not.toContain('externalId');
    });
  },
);

describe('the data of an event', () => {
  it('says of a deleted resource that it is deleted', () => {
    const gone = { id: 'msg_06dq2k0qz8h3v5m1r9t4w7xy', deleted: true };
    expect(shownData('message.sent', gone, {})).toEqual(gone);
  });

  it('has the ids of a received message', () => {
    const data = {
      mailboxId: 'mbx_06dq2k0qz8h3v5m1r9t4w7xy',
      threadId: 'thread_06dq2k0qz8h3v5m1r9t4w7xy',
      message: { id: 'msg_06dq2k0qz8h3v5m1r9t4w7xy', subject: 'A question', to: [{ id: 'x' }] },
    };
    expect(shownData('mailbox.message.received', data, {})).toEqual({
      ...{ mailboxId: data.mailboxId, threadId: data.threadId, message: { id: data.message.id } },
    });
  });

  it('is cut at any depth and size', () => {
    let data: object = { id: 'msg_06dq2k0qz8h3v5m1r9t4w7xy' };
    for (let i = 0; i < 1_000; i++) data = { data, contactIds: [] };
    expect(JSON.stringify(shownData('message.sent', data, {})).length).toBeLessThan(200);
    const many = {
      contactIds: Array.from({ length: 10_000 }, () => 'msg_06dq2k0qz8h3v5m1r9t4w7xy'),
    };
    const { contactIds } = shownData('message.sent', many, {}) as { contactIds: string[] };
    expect(contactIds).toHaveLength(100);
  });

  it('of an unknown kind is never shown', () => {
    expect(isShown('__proto__.x', permissionMapOf(permissions))).toBe(false);
    expect(isShown('constructor', permissionMapOf(permissions))).toBe(false);
  });
});
