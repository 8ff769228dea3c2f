// Folders of templates on the command line: made by hand or by React Email, created, pushed by
// slug, cloned, edited, pushed again.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { History } from '../../../src/content/templates/workspace/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

interface Pushed {
  template: string;
  commit: string;
  files: string[];
}

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

const inside = (...names: string[]) => join(cli.directory, ...names);
const write = (text: string, ...names: string[]) => writeFileSync(inside(...names), text);
const stateOf = (name: string) =>
  JSON.parse(readFileSync(inside(name, '.svc-template.json'), 'utf8'));
const historyOf = (slug: string) => cli.json<History>(['templates', 'history', slug]);
const push = (...args: string[]) => cli.json<Pushed>(['templates', 'push', ...args]);

/** Makes a folder as a person does. */
function folder(name: string, body = '<p>first</p>'): string {
  mkdirSync(inside(name));
  write('subject: Hello\n', name, 'template.yaml');
  write(body, name, 'body.html');
  return name;
}

/** Returns how many commits main has. */
async function commitsOf(slug: string): Promise<number> {
  return (await historyOf(slug)).items.length;
}

describe('svc templates create --from', () => {
  it('leaves the folder pushable', async () => {
    folder('created');
    await cli.json(['templates', 'create', '--slug', 'created', '--from', 'created']);
    write('<p>second</p>', 'created', 'body.html');
    expect((await push('created')).files).toEqual(['body.html']);
    expect(await commitsOf('created')).toBe(2);
  });

  it('keeps a clone of an earlier template, with a warning', async () => {
    const { template } = stateOf('created');
    const args = ['templates', 'create', '--slug', 'copied', '--from', 'created'];
    const { code, stderr } = await cli.run(args);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('created stays a clone of created'),
    ]);
    expect(stateOf('created').template).toBe(template);
  });
});

describe('svc templates push --slug', () => {
  it('creates a template that is not there', async () => {
    folder('made');
    const pushed = await push('made', '--slug', 'made');
    expect(pushed.files).toEqual(['body.html', 'template.yaml']);
    expect(stateOf('made')).toEqual({ template: pushed.template, commit: pushed.commit });
    expect((await historyOf('made')).items).toMatchObject([{ commit: pushed.commit }]);
  });

  it('saves a clone as a push without it', async () => {
    write('<p>second</p>', 'made', 'body.html');
    expect((await push('made', '--slug', 'made')).files).toEqual(['body.html']);
    expect((await push('made')).files).toEqual([]);
  });

  it('saves the files of a folder without a state on top of main', async () => {
    folder('fresh', '<p>third</p>');
    const pushed = await push('fresh', '--slug', 'made', '--message', 'Third');
    expect(pushed.files).toEqual(['body.html']);
    const { items } = await historyOf('made');
    expect(items[0]).toMatchObject({ commit: pushed.commit, message: 'Third' });
    expect(items).toHaveLength(3);
  });

  it('leaves a clone behind main a conflict', async () => {
    write('<p>fourth</p>', 'made', 'body.html');
    const args = ['templates', 'push', 'made', '--slug', 'made'];
    expect(await cli.run(args)).toMatchObject({ code: 5 });
  });

  it('refuses a clone of a different template', async () => {
    const { code, stderr } = await cli.run(['templates', 'push', 'fresh', '--slug', 'other']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('fresh is a clone of made')]);
    expect(await cli.run(['templates', 'show', 'other'])).toMatchObject({ code: 3 });
  });

  it('takes the state of a template of another store as none', async () => {
    folder('moved');
    const [template, commit] = ['tmpl_06dq2k0qz8h3v5m1r9t4w7xy', 'a'.repeat(40)];
    write(JSON.stringify({ template, commit }), 'moved', '.svc-template.json');
    const pushed = await push('moved', '--slug', 'moved');
    expect(stateOf('moved').template).toBe(pushed.template);
  });

  it('refuses an invalid slug', async () => {
    folder('odd');
    const { code } = await cli.run(['templates', 'push', 'odd', '--slug', 'No Slug']);
    expect(code).toBe(2);
    expect(existsSync(inside('odd', '.svc-template.json'))).toBe(false);
  });

  it('saves a folder in which no state can be left, with a warning', async () => {
    folder('sealed');
    symlinkSync(inside('nowhere', 'state'), inside('sealed', '.svc-template.json'));
    const args = ['templates', 'push', 'sealed', '--slug', 'sealed'];
    const { code, stderr } = await cli.run(args);
    expect([code, stderr]).toEqual([0, expect.stringContaining('push sealed with --slug sealed')]);
    write('<p>second</p>', 'sealed', 'body.html');
    expect(await cli.run(args)).toMatchObject({ code: 0 });
    expect(await commitsOf('sealed')).toBe(2);
  });
});

describe('a folder of a template', () => {
  it('without a state and a slug names the command that pushes it', async () => {
    folder('lonely');
    const { code, stderr } = await cli.run(['templates', 'push', 'lonely']);
    expect(code).toBe(2);
    const [, line = ''] = /run svc (templates push lonely --slug) SLUG/.exec(stderr) ?? [];
    expect((await cli.json<Pushed>([...line.split(' '), 'lonely'])).files).toHaveLength(2);
  });

  it('is cloned, edited and pushed', async () => {
    await cli.json(['templates', 'clone', 'lonely', 'cloned']);
    write('Hello', 'cloned', 'body.txt');
    rmSync(inside('cloned', 'body.html'));
    expect((await push('cloned')).files).toEqual(['body.html', 'body.txt']);
    expect(await commitsOf('lonely')).toBe(2);
  });
});
