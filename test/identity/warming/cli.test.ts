// `svc warming`: the objects of HTTP, the ramp before its start, the plan beside the sent mail, and
// exit codes.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Simulation } from '../../../src/identity/warming/ramp.ts';
import type { Warming } from '../../../src/identity/warming/schema.ts';
import { getWarming } from '../../../src/identity/warming/warming.ts';
import { type CliWorkspace, cliWorkspace } from '../../support/cli.ts';
import { eachApp } from '../../support/each-app.ts';
import { dayMs, decided, provenDomain, sendTo, warm } from './fixtures.ts';

const words = ['--identity', 'new', '--initial', '50', '--growth', '30', '--target', '100'];
const start = ['warming', 'start', warm, ...words];

describe('svc warming', () => {
  const test = eachApp();
  let cli: CliWorkspace;
  let domainId: string;
  beforeEach(async () => {
    cli = cliWorkspace({ SVC_DATA_DIR: test.app.config.dataDir });
    domainId = await provenDomain(test.app, test.operator);
  });
  afterEach(() => cli.close());

  it('draws the ramp with its dates without starting it', async () => {
    const drawn = await cli.json<Simulation>([...start, '--simulate']);
    expect(drawn.windows.map((one) => one.allowanceRecipients)).toEqual([50, 65, 85, 100]);
    for (const [index, { sequence, startsAt, endsAt }] of drawn.windows.entries()) {
      expect(sequence).toBe(index + 1);
      expect(Date.parse(endsAt) - Date.parse(startsAt)).toBe(dayMs);
      expect(startsAt).toBe(drawn.windows[index - 1]?.endsAt ?? startsAt);
    }
    expect(drawn.completesAt).toBe(drawn.windows.at(-1)?.endsAt);
    const { stdout } = await cli.run([...start, '--simulate']);
    const lines = stdout.split('\n').map((line) => line.replace(/\d{4}-\S+Z/g, 'TIME'));
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
      'window  startsAt  allowance  ramp',
      `1  TIME  50  ${'░'.repeat(20)}`,
      `2  TIME  65  ${'░'.repeat(26)}`,
      `3  TIME  85  ${'░'.repeat(34)}`,
      `4  TIME  100  ${'░'.repeat(40)}`,
      '',
      'Completed TIME, if every window is safe. Nothing was started.',
      '',
    ]);
    expect((await cli.run(['warming', 'show', warm])).code).toBe(3);
  });

  it('starts, shows, pauses, resumes and stops, by the name of the domain', async () => {
    const started = await cli.json<Warming>([...start]);
    expect(started.plan).toMatchObject({ status: 'active', initialDailyRecipients: 50 });
    const { observedAt: _, ...evidence } = started.evidence;
    expect(await cli.json(['warming', 'show', domainId])).toMatchObject({ ...started, evidence });
    const paused = await cli.json<Warming>(['warming', 'pause', warm, '--note', 'Holidays']);
    expect(paused.plan.status).toBe('paused');
    expect((await cli.json<Warming>(['warming', 'resume', warm])).plan.status).toBe('active');
    expect((await cli.json<Warming>(['warming', 'stop', warm])).plan.status).toBe('cancelled');
    const shown = await getWarming(test.app, test.operator, domainId);
    expect(decided(shown)).toEqual([
      'plan-created svc',
      'window-opened svc',
      'paused svc',
      'resumed svc',
      'cancelled svc',
    ]);
  });

  it('shows the plan beside the sent mail', async () => {
    await cli.json([...start]);
    await sendTo(test.app, test.operator, 30);
    const { stdout } = await cli.run(['warming', 'show', warm]);
    expect(stdout).toMatch(/^domain +warm\.example$/m);
    expect(stdout).toMatch(/^status +active$/m);
    expect(stdout).toMatch(
      /^evidence +insufficient-evidence: 0 sent, 0 bounced \(limit 3%\), 0 complained \(limit 0\.1%\); fewer than 100 prove nothing$/m,
    );
    expect(stdout).toMatch(/^1 +open +\S+Z +50 +30 +█{19}░{12}$/m);
    expect(stdout).toMatch(/^2 +scheduled +\S+Z +65 +0 +░{40}$/m);
    expect(stdout).toMatch(/Z +window-opened +svc +allowance 50$/m);
    expect(stdout).toMatch(/^Direct sends count here, and are never delayed/m);
    await sendTo(test.app, test.operator, 30);
    const beyond = await cli.run(['warming', 'show', warm]);
    expect(beyond.stdout).toMatch(/^1 +open +\S+Z +50 +60 +█{31}\+$/m);
  });

  it('starts a plan that defers direct sends with `--direct defer`, and says so', async () => {
    await cli.json([...start, '--direct', 'defer']);
    const { stdout } = await cli.run(['warming', 'show', warm]);
    expect(stdout).toMatch(/^direct +defer$/m);
    expect(stdout).toMatch(/above the allowance wait in the queue\n?.*for a later window/);
    expect(await cli.run(['warming', 'stop', warm])).toMatchObject({ code: 0 });
    expect((await cli.run([...start, '--direct', 'later'])).code).toBe(2);
  });

  it('ends with the exit code of the refusal', async () => {
    const codes = async (...args: string[]) => (await cli.run(['warming', ...args])).code;
    expect(await codes('show', warm)).toBe(3);
    expect(await codes('start', 'unknown.example', ...words)).toBe(3);
    expect(await codes('start', warm, '--identity', 'new', '--simulate')).toBe(2);
    expect(await codes('start', warm, ...words.with(3, '0'))).toBe(2);
    expect(await codes('start', warm, ...words.with(3, '0'), '--simulate')).toBe(2);
    expect(await codes('start', warm, ...words)).toBe(0);
    expect(await codes('start', warm, ...words)).toBe(5);
    expect(await codes('resume', warm)).toBe(5);
  });
});
