// svc templates clone, pull, push, history, diff and restore: the files of a template in a folder,
// without git.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Diff, History } from '../../../src/content/templates/workspace/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
  const texts = ['--subject', 'Hello', '--html', '<p>first</p>'];
  await cli.run(['templates', 'create', '--slug', 'welcome', ...texts]);
  for (const name of ['one', 'two']) await cli.run(['templates', 'clone', 'welcome', name]);
});
afterAll(() => cli.close());

const inside = (...names: string[]) => join(cli.directory, ...names);
const read = (...names: string[]) => readFileSync(inside(...names), 'utf8');
const write = (text: string, ...names: string[]) => writeFileSync(inside(...names), text);
const historyOf = () => cli.json<History>(['templates', 'history', 'welcome']);

describe('hidden files of a template', () => {
  const files = {
    'template.yaml': 'subject: Dots',
    'body.html': '<p>x</p>',
    '.envrc': 'echo run',
    'partials/.vscode/tasks.json': '{}',
  };
  beforeAll(async () => {
    write(JSON.stringify({ slug: 'dots', name: 'Dots', files }), 'dots.json');
    await cli.run(['templates', 'create', '--data', '@dots.json']);
    await cli.run(['templates', 'clone', 'dots', 'dots']);
  });

  it('are not written to a clone', () => {
    expect(existsSync(inside('dots', 'body.html'))).toBe(true);
    expect(existsSync(inside('dots', '.envrc'))).toBe(false);
    expect(existsSync(inside('dots', 'partials'))).toBe(false);
  });

  it('stay in the repository at a push', async () => {
    const { items } = await cli.json<History>(['templates', 'history', 'dots']);
    write('<p>y</p>', 'dots', 'body.html');
    await cli.run(['templates', 'push', 'dots']);
    const args = ['templates', 'diff', 'dots', '--from', items[0]?.commit ?? ''];
    expect((await cli.json<Diff>(args)).files.map(({ path }) => path)).toEqual(['body.html']);
  });

  it('are no conflict at a pull', async () => {
    expect(await cli.run(['templates', 'pull', 'dots'])).toMatchObject({ code: 0 });
    expect(existsSync(inside('dots', '.envrc'))).toBe(false);
  });
});

describe('svc templates', () => {
  it('clones the files of main with its commit', async () => {
    const { items } = await historyOf();
    expect(read('one', 'body.html')).toBe('<p>first</p>');
    expect(JSON.parse(read('one', '.svc-template.json'))).toMatchObject({
      commit: items[0]?.commit,
    });
  });

  it('refuses to clone into a folder with files', async () => {
    expect(await cli.run(['templates', 'clone', 'welcome', 'one'])).toMatchObject({ code: 2 });
  });

  it('pushes changed, new and deleted files as one commit', async () => {
    write('<p>second</p>', 'one', 'body.html');
    mkdirSync(inside('one', 'partials'));
    write('footer', 'one', 'partials', 'footer.html');
    const args = ['templates', 'push', 'one', '--message', 'Second'];
    const pushed = await cli.json<{ commit: string; files: string[] }>(args);
    expect(pushed.files).toEqual(['body.html', 'partials/footer.html']);
    const { items } = await historyOf();
    expect(items[0]).toMatchObject({ commit: pushed.commit, message: 'Second' });
  });

  it('pushes nothing without a change', async () => {
    const { stdout } = await cli.run(['templates', 'push', 'one']);
    expect(stdout).toContain('Nothing changed');
  });

  it('refuses to push files that do not compile', async () => {
    write('<p>{{ name | nofilter }}</p>', 'one', 'body.html');
    const { code, stderr } = await cli.run(['templates', 'push', 'one']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('body.html')]);
    write('<p>second</p>', 'one', 'body.html');
  });

  it('refuses to push over commits that the folder lacks, and says to pull', async () => {
    write('Hello text', 'two', 'body.txt');
    const { code, stderr } = await cli.run(['templates', 'push', 'two']);
    expect([code, stderr]).toEqual([5, expect.stringContaining('svc templates pull two')]);
  });

  it('pulls new commits and keeps own changes', async () => {
    await cli.run(['templates', 'pull', 'two']);
    expect(read('two', 'body.html')).toBe('<p>second</p>');
    expect(read('two', 'partials', 'footer.html')).toBe('footer');
    expect(read('two', 'body.txt')).toBe('Hello text');
    expect(await cli.run(['templates', 'push', 'two'])).toMatchObject({ code: 0 });
  });

  it('pulls deletions', async () => {
    rmSync(inside('two', 'partials', 'footer.html'));
    await cli.run(['templates', 'push', 'two']);
    await cli.run(['templates', 'pull', 'one']);
    expect(existsSync(inside('one', 'partials', 'footer.html'))).toBe(false);
  });

  it('writes nothing of a pull with a conflict, until it is decided', async () => {
    write('<p>mine</p>', 'one', 'body.html');
    write('<p>theirs</p>', 'two', 'body.html');
    await cli.run(['templates', 'push', 'two']);
    const { code, stderr } = await cli.run(['templates', 'pull', 'one']);
    expect([code, stderr]).toEqual([5, expect.stringContaining('body.html')]);
    expect(read('one', 'body.html')).toBe('<p>mine</p>');
    await cli.run(['templates', 'pull', 'one', '--take', 'main']);
    expect(read('one', 'body.html')).toBe('<p>theirs</p>');
  });

  it('shows the difference to an earlier commit', async () => {
    const first = (await historyOf()).items.at(-1)?.commit ?? '';
    const args = ['templates', 'diff', 'welcome', '--from', first];
    expect((await cli.run(args)).stdout).toContain('-<p>first</p>');
    expect((await cli.json<Diff>(args)).from).toBe(first);
  });

  it('restores an earlier commit as a new one', async () => {
    const before = (await historyOf()).items;
    const first = before.at(-1)?.commit ?? '';
    await cli.run(['templates', 'restore', 'welcome', first]);
    const after = (await historyOf()).items;
    expect(after.slice(1)).toEqual(before);
    expect(after[0]?.message).toBe(`Restore ${first}`);
    await cli.run(['templates', 'pull', 'one']);
    expect(read('one', 'body.html')).toBe('<p>first</p>');
  });

  it('pushes at each change with --watch, with a preview', async () => {
    let output = '';
    const child = cli.start(['templates', 'push', 'one', '--watch']);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text) => {
        output += text;
      });
    }
    const soon = { timeout: 30_000 };
    const file = inside('one', '.svc-preview.html');
    const previewOf = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
    await expect.poll(previewOf, soon).toContain('first');
    write('<p>watched</p>', 'one', 'body.html');
    await expect.poll(() => output, soon).toContain('Saved body.html');
    await expect.poll(previewOf, soon).toContain('watched');
    child.kill('SIGKILL');
  });
});
