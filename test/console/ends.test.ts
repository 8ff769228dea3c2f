// How actions end: whatever changed something ends in a redirect, so a reload repeats nothing; and
// whatever destroys something asks first, or says how to take it back.
import { describe, expect, it } from 'vitest';
import { every, run } from './every-action.ts';

/** Routes that only look, though their method is POST; and dry runs. */
const looks = /\/(?:render|preview|estimate|search)\b|\/contacts\/columns$/;
/** Imports without the digest of a preview only preview; imports.test.ts holds the redirect. */
const dryRuns = [
  '/extensions/:id preview',
  ...['/blocks/import', '/contacts/import'].flatMap((path) => [
    `${path} preview`,
    `${path} import`,
  ]),
];

/** Routes that destroy something, besides those of DELETE. */
const destroying = /^DELETE |\/(?:rotate-secret|discard)$|(?:api-keys|installations)\/.*\/rotate$/;

/** Gets its way back with the toasts of labels. */
const later = '/mailboxes/:id/threads/:threadId unlabel';

describe('an action', () => {
  it('that changed something ends in a redirect', async () => {
    const repeated: string[] = [];
    let changing = 0;
    for (const { name, action } of every) {
      const { routes, end } = await run(action);
      const hasChanged = routes.some((route) => !route.startsWith('GET ') && !looks.test(route));
      if (!hasChanged || dryRuns.includes(name)) continue;
      changing += 1;
      if (typeof end === 'object' && end !== null && !('to' in end)) repeated.push(name);
    }
    expect(repeated).toEqual([]);
    expect(changing).toBeGreaterThan(60);
  });

  it('that destroys something asks first, or its toast takes it back', async () => {
    const silent: string[] = [];
    let destroyed = 0;
    for (const { name, action } of every) {
      const { routes, end } = await run(action);
      if (!routes.some((route) => destroying.test(route))) continue;
      destroyed += 1;
      const isUndone = typeof end === 'object' && end !== null && 'to' in end && end.undo;
      if (!action.destroys && !isUndone) silent.push(name);
    }
    expect(silent.filter((name) => name !== later)).toEqual([]);
    expect(destroyed).toBeGreaterThan(15);
  });
});
