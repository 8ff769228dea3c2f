// `npm run bench -- --templates`: how fast the real daemon fills a template of 3 KB with 12 values
// and a loop of 10, in turns with HTML of the same size. Figures are printed, never asserted.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Contender, combine, type Figures, figuresRow, runRound } from './contender.ts';
import { postAll } from './http-load.ts';
import { startBenchSink, svcJson } from './processes.ts';
import { say } from './progress.ts';
import { type BenchMail, type BenchService, startBenchService } from './svc-contender.ts';

export interface TemplatesOptions extends BenchMail {
  messages: number;
  rounds: number;
}

const from = 'bench@ed25519.bench.example';
const valueNames = Array.from({ length: 12 }, (_, index) => `value${index}`);

function valuesOf(index: number) {
  return {
    ...Object.fromEntries(valueNames.map((name) => [name, `${name} of ${index}`])),
    items: Array.from({ length: 10 }, (_, item) => ({ name: `Item ${item}`, price: index + item })),
  };
}

const padding = '<p style="margin:0;color:#333333">The quick brown fox jumps.</p>\n'.repeat(30);

/** Writes the HTML as Liquid, or with the values of one message. */
function htmlOf(write: (name: string) => string, rows: string): string {
  const cells = valueNames.map((name) => `<p>${write(name)}</p>`).join('\n');
  return `<html><body>${cells}<table>${rows}</table>\n${padding}</body></html>`;
}

const template = htmlOf(
  (name) => `{{ ${name} }}`,
  '{% for item in items %}<tr><td>{{ item.name }}</td><td>{{ item.price }}</td></tr>{% endfor %}',
);

function filledHtml(index: number): string {
  const values: Record<string, unknown> = valuesOf(index);
  const rows = valuesOf(index).items.map(
    ({ name, price }) => `<tr><td>${name}</td><td>${price}</td></tr>`,
  );
  return htmlOf((name) => String(values[name]), rows.join(''));
}

async function publish({ env }: BenchService): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-template-'));
  writeFileSync(join(folder, 'template.yaml'), 'subject: Message {{ value0 }}\n');
  writeFileSync(join(folder, 'body.html'), template);
  await svcJson(env, 'templates', 'create', '--slug', 'bench', '--from', folder);
  await svcJson(env, 'templates', 'publish', 'bench');
  rmSync(folder, { recursive: true });
}

export async function benchTemplates(options: TemplatesOptions): Promise<void> {
  const { messages, rounds, connections } = options;
  const sink = await startBenchSink();
  const service = await startBenchService(sink.port);
  try {
    const own = await service.contender('ed25519', options);
    await publish(service);
    let submitted = 0;
    const contender = (name: string, emailOf: (index: number) => object): Contender => ({
      ...own,
      name,
      submit(total) {
        const first = submitted;
        submitted += total;
        const load = { apiKey: service.apiKey, path: '/v1/messages', connections, total };
        return postAll(service.daemon.httpPort, load, (index) =>
          JSON.stringify({
            channel: 'email',
            from: { email: from },
            to: [{ email: `user${first + index}@example.com` }],
            email: emailOf(first + index),
          }),
        );
      },
    });
    const text = 'The quick brown fox jumps.';
    const ways = [
      contender('html', (index) => ({
        subject: `Message ${index}`,
        html: filledHtml(index),
        text,
      })),
      contender('template', (index) => ({ templateSlug: 'bench', templateData: valuesOf(index) })),
    ];
    const figures = new Map<string, Figures[]>(ways.map(({ name }) => [name, []]));
    for (let round = -1; round < rounds; round++) {
      for (const way of ways) {
        say(`${round < 0 ? 'warming up' : `round ${round + 1}`}: ${way.name} …`);
        const one = await runRound(way, sink, messages);
        if (round >= 0) figures.get(way.name)?.push(one);
      }
    }
    const [html, filled] = ways.map(({ name }) => combine(figures.get(name) ?? []));
    if (!html || !filled) return;
    console.table([figuresRow('html', html), figuresRow('template', filled)]);
    const ratio = (field: 'acceptPerSecond' | 'endToEndPerSecond') =>
      (filled[field] / html[field]).toFixed(2);
    say(
      `Template beside HTML: accept ${ratio('acceptPerSecond')}, end to end ${ratio('endToEndPerSecond')}.`,
    );
  } finally {
    await service.stop();
    sink.close();
  }
}
