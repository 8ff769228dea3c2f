// Receipts of 1,000 messages, verified by a program in another language:
// examples/verify-receipt.py.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildReceipt } from '../../src/receipts/receipt.ts';
import type { Receipt } from '../../src/receipts/schema.ts';
import { repository } from '../support/cli.ts';
import { burstOverMs, type RunningPipeline, send, startPipeline } from '../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { everyChange, everyLoss } from './changes.ts';

const program = join(repository, 'examples/verify-receipt.py');
const run = promisify(execFile);
const count = 1_000;
const accepted = count * 0.975;
const mostLines = 60;

const hasPython = await run('python3', ['--version']).then(
  () => true,
  () => false,
);

describe.skipIf(!hasPython)('verify-receipt.py', () => {
  let test: TestApp;
  let sink: SmtpSink;
  let pipeline: RunningPipeline;
  let directory: string;
  let receipts: Receipt[];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'receipts-'));
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    test = await testApp({ config: { delivery: { mode: 'relay', relay } } });
    pipeline = await startPipeline(test.app);
    sink.on({ verb: 'RCPT', match: /bounced/ }, '550 5.1.1 nöbödy 😀 "here"');
    const sent = await Promise.all(
      Array.from({ length: count }, (_, at) => {
        const to = at % 40 === 9 ? `bounced${at}@example.com` : `user${at}@example.com`;
        return send(test.app, test.caller, to);
      }),
    );

    // Claims yield to the burst, and the lane opens step by step.
    while (sink.received < accepted) {
      await test.clock.advance(burstOverMs);
      await pipeline.idle();
    }
    receipts = await Promise.all(sent.map(({ id }) => buildReceipt(test.app, test.caller, id)));
  });
  afterAll(async () => {
    await pipeline.close();
    await test.close();
    await sink.close();
    rmSync(directory, { recursive: true });
  });

  function put(name: string, value: unknown): string {
    const file = join(directory, name);
    writeFileSync(file, JSON.stringify(value));
    return file;
  }

  /** Returns the names of files that the program refuses. */
  async function refused(files: readonly string[], more: readonly string[] = []) {
    const { stdout } = await run('python3', [program, ...files, ...more], {
      maxBuffer: 16_777_216,
    }).catch((error: { stdout: string }) => error);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(files.length);
    return lines.filter((line) => !line.endsWith(' sound')).map((line) => line.split(' ')[0]);
  }

  it('finds all of 1,000 receipts sound', async () => {
    expect(sink.received).toBe(accepted);
    const files = receipts.map((receipt, at) => put(`${at}.json`, receipt));
    expect(await refused(files)).toEqual([]);
  });

  it('knows the mail by its bytes', async () => {
    const [receipt] = receipts;
    const mail = sink.messages.find(({ recipients }) => recipients.includes('user0@example.com'));
    const file = put('mail.json', receipt);
    const mime = join(directory, 'mail.eml');
    writeFileSync(mime, mail?.raw ?? '');
    expect(await refused([file], ['--mime', mime])).toEqual([]);
    writeFileSync(mime, `${mail?.raw.toString()}x`);
    expect(await refused([file], ['--mime', mime])).toEqual([file]);
  });

  it('refuses each change of what was sealed', async () => {
    const proven =
      /^(head\.(root|size|at|signature|keyId)|summary\.|summarySignature|events\.\d+\.|attempts\.\d+\.)/;
    const changes = everyChange(receipts[9]).filter(({ at }) => proven.test(at));
    expect(changes.length).toBeGreaterThan(50);
    const files = changes.map(({ value }, at) => put(`changed-${at}.json`, value));
    const found = new Set(await refused(files));
    expect(changes.filter((_, at) => !found.has(files[at])).map(({ at }) => at)).toEqual([]);
  });

  it('refuses a receipt that lost an event or a recipient', async () => {
    const losses = [receipts[8], receipts[9]].flatMap((receipt) =>
      receipt ? everyLoss(receipt) : [],
    );
    expect(losses.map(({ at }) => at)).toContain('message.bounced');
    const files = losses.map(({ value }, at) => put(`lost-${at}.json`, value));
    expect(await refused(files)).toEqual(files);
  });

  it('says of a receipt of version 1 that completeness is not proven', async () => {
    const { summary: _, summarySignature: _signature, ...others } = receipts[0] ?? {};
    const file = put('old.json', { ...others, version: 1 });
    const { stdout } = await run('python3', [program, file]);
    expect(stdout).toBe(`${file} sound, but version 1 does not prove completeness\n`);
  });

  it('has 60 lines at most', () => {
    expect(readFileSync(program, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(
      mostLines,
    );
  });
});
