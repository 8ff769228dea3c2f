// svc templates and svc families: the binary, from a folder to a preview.
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Family } from '../../../src/content/families/schema.ts';
import type { Rendered, Template } from '../../../src/content/templates/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

const files = {
  'template.yaml': 'subject: Hello {{ name }}\npreheader: Good news\n',
  'body.html': '<p>{% render \'greeting\', name: name %}</p><img src="https://a.test/a.png">\n',
  'partials/greeting.html': 'Dear {{ name }}',
  'sample.json': '{"name":"Ada"}',
};

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
  writeFolder('welcome', files);
});
afterAll(() => cli.close());

function writeFolder(name: string, contents: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(contents)) {
    mkdirSync(join(cli.directory, name, path, '..'), { recursive: true });
    writeFileSync(join(cli.directory, name, path), content);
  }
}

describe('svc templates', () => {
  it('creates a template from a folder, without its hidden files', async () => {
    writeFolder('welcome', { '.git/config': '[core]', '.env': 'SECRET=1' });
    const made = await cli.json<Template>([
      ...['templates', 'create', '--slug', 'welcome', '--from', 'welcome'],
    ]);
    expect(made).toMatchObject({ slug: 'welcome', name: 'welcome', status: 'draft' });
  });

  it('publishes it by its slug, and shows it by the ending of its id', async () => {
    const published = await cli.json<Template>(['templates', 'publish', 'welcome']);
    expect(published).toMatchObject({ status: 'published', version: 1 });
    const shown = await cli.json<Template>(['templates', 'show', published.id.slice(-8)]);
    expect(shown).toEqual(published);
    const { stdout } = await cli.run(['templates', 'versions', 'welcome']);
    expect(stdout).toContain('image-without-alt');
  });

  it('prints a preview with the values of sample.json, and advice on standard error', async () => {
    const { code, stdout, stderr } = await cli.run(['templates', 'render', 'welcome']);
    expect([code, stdout]).toEqual([
      0,
      'Subject:    Hello Ada\nPreheader:  Good news\n\nDear Ada\n\n',
    ]);
    expect(stderr).toContain('has no alt');
  });

  it('renders --data, and writes the HTML to a file', async () => {
    writeFileSync(join(cli.directory, 'bob.json'), '{"name":"Bob"}');
    const args = ['templates', 'render', 'welcome', '--data', '@bob.json'];
    const rendered = await cli.json<Rendered>([...args, '--output', 'page.html']);
    expect(rendered).toMatchObject({ subject: 'Hello Bob', preheader: 'Good news' });
    expect(readFileSync(join(cli.directory, 'page.html'), 'utf8')).toBe(rendered.html);
  });

  it('opens the HTML with the opener of the desktop', async () => {
    const opener = join(cli.directory, 'bin', 'xdg-open');
    mkdirSync(join(cli.directory, 'bin'));
    writeFileSync(opener, '#!/bin/sh\ncp "$1" opened.html\n');
    chmodSync(opener, 0o755);
    const env = { PATH: `${join(cli.directory, 'bin')}:${process.env.PATH}` };
    const { code } = await cli.run(['templates', 'render', 'welcome', '--open'], { env });
    expect(code).toBe(0);
    expect(readFileSync(join(cli.directory, 'opened.html'), 'utf8')).toContain('<p>Dear Ada</p>');
  });

  it('checks a folder, and the draft of a template', async () => {
    const folder = await cli.run(['templates', 'lint', './welcome']);
    const draft = await cli.run(['templates', 'lint', 'welcome']);
    expect([folder.code, folder.stdout]).toEqual([0, draft.stdout]);
    expect(folder.stdout).toMatch(/^body\.html:1: .*\(image-without-alt\)$/m);
  });

  it('ends with 2 and names the place of files that do not compile', async () => {
    writeFolder('broken', { ...files, 'body.html': '<p>\n{% if %}</p>' });
    const lint = await cli.run(['templates', 'lint', './broken']);
    expect([lint.code, lint.stderr]).toEqual([2, expect.stringContaining('line 2')]);
    const create = await cli.run(['templates', 'create', '--slug', 'b', '--from', 'broken']);
    expect([create.code, create.stderr]).toEqual([2, expect.stringContaining('files.body.html')]);
  });

  it('ends with 2 for an unreadable folder', async () => {
    const create = async (folder: string) => {
      const { code, stderr } = await cli.run([
        ...['templates', 'create', '--slug', 'x', '--from', folder],
      ]);
      return [code, stderr];
    };
    writeFolder('linked', files);
    symlinkSync('/etc/passwd', join(cli.directory, 'linked', 'body.txt'));
    expect(await create('linked')).toEqual([2, expect.stringContaining('body.txt')]);
    writeFolder('binary', files);
    writeFileSync(join(cli.directory, 'binary', 'body.txt'), Buffer.from([0xff, 0xfe, 0x00]));
    expect(await create('binary')).toEqual([2, expect.stringContaining('not UTF-8')]);
    mkdirSync(join(cli.directory, 'empty'));
    expect(await create('empty')).toEqual([2, expect.stringContaining('has no files')]);
    expect(await create('nowhere')).toEqual([2, expect.stringContaining('cannot be read')]);
  });

  it('ends with 3 for an unknown slug', async () => {
    expect((await cli.run(['templates', 'show', 'no-such-slug'])).code).toBe(3);
  });
});

describe('svc families', () => {
  it('adds and removes a template by its slug', async () => {
    const { id } = await cli.json<Family>(['families', 'create', '--name', 'Greetings']);
    const added = await cli.json<Family>(['families', 'add', id, 'welcome']);
    expect(added.members.map(({ slug }) => slug)).toEqual(['welcome']);
    expect(await cli.json<Family>(['families', 'show', '@last'])).toEqual(added);
    const removed = await cli.json<Family>(['families', 'remove', id, 'welcome']);
    expect(removed.members).toEqual([]);
  });
});
