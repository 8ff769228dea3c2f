import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { repository } from './cli.ts';
import SlowFirst from './slow-first.ts';

/** Describes a file as vitest does; `duration` is the time of an earlier run. */
function specification(file: string, isolate: boolean, duration: number) {
  const config = { isolate, sequence: { groupOrder: 0 } };
  const project = { name: isolate ? 'alone' : 'shared', config };
  return { project, moduleId: join(repository, file), duration };
}

it('files that state why they are slow start before all that share their processes', async () => {
  const alone = specification('test/support/exit-code.test.ts', true, 1);
  const long = specification('test/mail/parse/hostile.test.ts', false, 9_000);
  const slow = specification('test/patterns/doorways.test.ts', false, 10);
  const slower = specification('test/docs/readme-run.test.ts', false, 20);
  const cache = {
    getTestSpecificationResult: ({ duration }: typeof slow) => ({ failed: false, duration }),
  };
  const sequencer = new SlowFirst({ cache } as unknown as Vitest);
  const files = [long, slow, alone, slower] as unknown as TestSpecification[];
  expect(await sequencer.sort(files)).toEqual([alone, slower, slow, long]);
});
