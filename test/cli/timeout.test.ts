// --timeout has the same form in every command: seconds, or a time with a unit.
import { describe, expect, it } from 'vitest';
import { timeoutFrom } from '../../commands/base/input/timeout.ts';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { UsageError } from '../../commands/base/output/failure.ts';
import { commandClass } from '../docs/write.ts';

interface Described {
  description?: string;
  helpValue?: unknown;
}

describe('--timeout', () => {
  it.each([
    ['90', 90_000],
    ['0.2', 200],
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['1h', 3_600_000],
    ['0', undefined],
    ['0s', undefined],
  ])('takes %s', (text, ms) => {
    expect(timeoutFrom(text)).toBe(ms);
  });

  it.each(['soon', '', '-1', '1.5m', '10 s', '1w'])('refuses %j', (text) => {
    expect(() => timeoutFrom(text)).toThrow(UsageError);
  });

  it('is described alike by every command that has it', async () => {
    const found = await Promise.all(
      listCommandIds().map(async (id) => {
        const { timeout } = ((await commandClass(id)).flags ?? {}) as Record<string, Described>;
        return timeout ? [{ ...timeout, id }] : [];
      }),
    );
    const flags = found.flat();
    expect(flags.length).toBeGreaterThan(4);
    for (const { description, helpValue } of flags) {
      expect([helpValue, description]).toEqual(['TIME', expect.stringMatching(/^Longest wait, /)]);
    }
  });
});
