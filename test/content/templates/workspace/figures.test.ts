// Figures of repositories, printed and not asserted, as they belong to the machine: with
// SVC_FIGURES=1. In 500 commits: a save, a restore, the stall of a clone. The bytes of 20 templates
// of 50 commits.
import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sql } from 'kysely';
import { describe, it } from 'vitest';
import { prepareCommit } from '../../../../src/content/git/commit.ts';
import { readFetch } from '../../../../src/content/git/smart-http.ts';
import { answerGitFetch } from '../../../../src/content/templates/workspace/git-face.ts';
import { receivePush } from '../../../../src/content/templates/workspace/incoming.ts';
import {
  restoreCommit,
  saveWorkspace,
  showWorkspace,
} from '../../../../src/content/templates/workspace/workspace.ts';
import { stores } from '../../../support/command.ts';
import { eachApp } from '../../../support/each-app.ts';
import { guardOf, makeTemplate, save, stage, templateYaml } from './fixtures.ts';

const say = (text: string) => process.stderr.write(`${text}\n`);
const paragraph = (i: number) => `<p>Paragraph ${i} of ${i * 7919} with ${i * 104729} words</p>\n`;
const bodyOf = (serial: number) =>
  Array.from({ length: 60 }, (_, i) => paragraph(i + (i === serial % 60 ? serial * 60 : 0))).join(
    '',
  );

describe.skipIf(!process.env.SVC_FIGURES).each(stores)('figures on %s', (store) => {
  const test = eachApp({ store });
  const medianOf = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1]?.toFixed(1);

  async function grow(id: string, from: number, to: number): Promise<number[]> {
    const times: number[] = [];
    for (let i = from; i < to; i++) {
      await stage(test.app, test.caller, id, { 'body.html': bodyOf(i) });
      const guard = await guardOf(test.app, test.caller, id);
      const before = performance.now();
      await saveWorkspace(test.app, test.caller, id, guard);
      times.push(performance.now() - before);
    }
    return times;
  }
  const start = (serial: number) =>
    makeTemplate(test.app, test.caller, {
      'body.html': bodyOf(serial),
      'template.yaml': templateYaml,
    });

  it('of 500 commits', async () => {
    const id = await start(0);
    const { workspace } = await save(test.app, test.caller, id);
    await grow(id, 1, 480);
    say(`${store}: save at 500 commits ${medianOf(await grow(id, 480, 500))} ms`);
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const guard = await guardOf(test.app, test.caller, id);
      const before = performance.now();
      await restoreCommit(test.app, test.caller, id, { ...guard, commit: workspace.baseCommit });
      times.push(performance.now() - before);
    }
    say(`${store}: restore at 500 commits ${medianOf(times)} ms`);
    const head = (await save(test.app, test.caller, id)).workspace.baseCommit;
    const line = `want ${head} side-band-64k\n`;
    const body = Buffer.from(
      `${(line.length + 4).toString(16).padStart(4, '0')}${line}00000009done\n`,
    );
    if (!readFetch(body).isDone) throw new Error('the request is wrong');
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const before = performance.now();
    let bytes = 0;
    for await (const part of await answerGitFetch(test.app, test.caller, id, body)) {
      bytes += part.length;
    }
    const took = performance.now() - before;
    delay.disable();
    say(
      `${store}: clone of 500 commits ${took.toFixed(0)} ms, ${bytes} bytes, ` +
        `longest stall ${(delay.max / 1e6).toFixed(1)} ms`,
    );
  }, 600_000);

  it('of a push of 4,900 objects', async () => {
    const id = await start(0);
    const { workspace } = await showWorkspace(test.app, test.caller, id);
    const objects = new Map<string, Buffer>();
    let tip = workspace.baseCommit;
    for (let i = 0; i < 1_633; i++) {
      const files = { 'body.html': `<p>${i}</p>`, 'template.yaml': templateYaml };
      const author = { name: 'Ada', email: 'ada@example.com' };
      const commit = { files, parents: [tip], author, message: `${i}`, at: 1e12 };
      const made = await prepareCommit(null, id, commit);
      tip = made.oid;
      for (const { oid, type, size, content } of made.objects) {
        const kind = { commit: 1, tree: 2, blob: 3 }[type] << 4;
        const low = kind | (size & 15);
        const head = size < 16 ? [low] : [low | 128, size >> 4];
        objects.set(oid, Buffer.concat([Buffer.from(head), content]));
      }
    }
    const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
    header.writeUInt32BE(objects.size, 8);
    const body = Buffer.concat([header, ...objects.values()]);
    const pack = Buffer.concat([body, createHash('sha1').update(body).digest()]);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const before = performance.now();
    await receivePush(test.app, test.caller, id, { from: workspace.baseCommit, to: tip, pack });
    const took = performance.now() - before;
    delay.disable();
    say(
      `${store}: push of ${objects.size} objects ${took.toFixed(0)} ms, ` +
        `longest stall ${(delay.max / 1e6).toFixed(1)} ms`,
    );
  }, 600_000);

  it('of 20 templates of 50 commits', async () => {
    for (let serial = 0; serial < 20; serial++) await grow(await start(serial), 1, 50);
    const size =
      store === 'sqlite'
        ? sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat where name in
            ('git_objects', 'git_objects_position', 'sqlite_autoindex_git_objects_1', 'git_refs')`
        : sql<{ bytes: number }>`select pg_total_relation_size('git_objects') as bytes`;
    const { rows } = await size
      .execute(test.app.store.db)
      .catch(() =>
        sql<{ bytes: number }>`select sum(length(content) + 200) as bytes from git_objects`.execute(
          test.app.store.db,
        ),
      );
    const bytes = Number(rows[0]?.bytes) / 1_000;
    say(`${store}: a commit of a body of 4 KB takes ${bytes.toFixed(0)} bytes of the store`);
  }, 600_000);
});
