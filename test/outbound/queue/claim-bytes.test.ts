// A claim reads small contents alone; the attempt of a message reads a large one.
import { expect, it } from 'vitest';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { send, startPipeline } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { testApp } from '../../support/test-app.ts';
import { watchBytes } from '../../support/watched-queries.ts';
import { claim } from './entries.ts';

const mostBytes = 16 * 1024 * 1024;
const test = eachApp();

it('a claim of 100 messages of 500 KB reads 16 MB at most', async () => {
  const { app, caller } = test;
  for (let n = 0; n < 100; n += 1) {
    const html = `<p>${`${n} `.padEnd(500_000, 'x')}</p>`;
    await send(app, caller, `ada${n}@example.com`, { email: { html } });
  }
  const watch = watchBytes();
  try {
    expect(await claim(app)).toHaveLength(100);
    expect(watch.take()).toBeLessThan(mostBytes);
  } finally {
    watch.stop();
  }
});

it('an attempt delivers a content that its claim left out', async () => {
  const sink = await startSmtpSink();
  const relay = { host: sink.host, port: sink.port };
  const service = await testApp({ config: { delivery: { mode: 'relay', relay } } });
  const html = `<p>${'large '.repeat(50_000)}</p>`;
  await send(service.app, service.caller, 'ada@example.com', { email: { html } });
  const pipeline = await startPipeline(service.app);
  try {
    const [mail] = await sink.waitFor(1);
    expect((await parseMime(mail?.raw ?? Buffer.alloc(0))).html?.trim()).toBe(html);
  } finally {
    await pipeline.close();
    await service.close();
    await sink.close();
  }
});
