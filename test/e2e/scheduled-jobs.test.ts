// The jobs of a daemon that run by the calendar: at their time, one at a time, and again after a failure.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startJobs } from '../../daemon/scheduler/jobs.ts';
import { eachApp } from '../support/each-app.ts';

const hour = 3_600_000;
const test = eachApp({});

beforeEach(() => {
  vi.useFakeTimers({
    now: Date.UTC(2026, 0, 5, 12),
    toFake: ['Date', 'setTimeout', 'clearTimeout'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

it('run at their minute until they are stopped', async () => {
  const ran: string[] = [];
  const run = async () => void ran.push(new Date().toISOString());
  const stop = startJobs(test.app, [{ name: 'sweep', pattern: '23 * * * *', run }]);
  await vi.advanceTimersByTimeAsync(2 * hour);
  stop();
  await vi.advanceTimersByTimeAsync(2 * hour);
  expect(ran).toEqual(['2026-01-05T12:23:00.000Z', '2026-01-05T13:23:00.000Z']);
});

it('run again at their time after a failure, which the log names', async () => {
  const error = vi.spyOn(test.app.log, 'error');
  const run = vi.fn(() => Promise.reject(new Error('the disk is full')));
  const stop = startJobs(test.app, [{ name: 'sweep', pattern: '23 * * * *', run }]);
  await vi.advanceTimersByTimeAsync(2 * hour);
  stop();
  expect(run).toHaveBeenCalledTimes(2);
  expect(error).toHaveBeenCalledWith(
    { err: expect.objectContaining({ message: 'the disk is full' }), job: 'sweep' },
    'a scheduled job failed and runs again at its next time',
  );
});

it('do not overlap themselves: what was due meanwhile begins once the first is over', async () => {
  const first = Promise.withResolvers<void>();
  const began: string[] = [];
  const run = () => {
    began.push(new Date().toISOString().slice(11, 16));
    return first.promise;
  };
  const stop = startJobs(test.app, [{ name: 'sweep', pattern: '23 * * * *', run }]);
  await vi.advanceTimersByTimeAsync(3 * hour);
  expect(began).toEqual(['12:23']);
  first.resolve();
  await vi.advanceTimersByTimeAsync(hour);
  stop();
  expect(began).toEqual(['12:23', '15:00', '15:23']);
});
