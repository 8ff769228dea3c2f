// Compiling and filling commute, and what is compiled looks as mjml 5 would have it.
import mjml2html from 'mjml';
import { describe, expect, it } from 'vitest';
import { compileSources } from '../../../src/content/rendering/compile/compile-sources.ts';
import type { CompiledTemplate, TemplateFiles } from '../../../src/content/rendering/compiled.ts';
import { fillCompiled, readTemplate } from '../../../src/content/rendering/fill-compiled.ts';
import { type CorpusTemplate, data, htmlTemplates, mjmlTemplates } from './corpus.ts';
import { renderingTree, withoutKnownDifferences } from './rendering-tree.ts';

const values = {
  data,
  contact: null,
  brand: null,
  sender: { email: 'a@example.com', name: null },
  unsubscribeUrl: null,
  viewUrl: null,
  message: { id: 'msg_1', createdAt: '2026-11-26T00:00:00Z' },
  footer: false,
};

const fill = (compiled: CompiledTemplate) =>
  fillCompiled(readTemplate(compiled), values, 'data').html ?? '';

const isPartial = /^partials\/(.+)\.\w+$/;

/** Returns the files with their Liquid filled, before anything is compiled. */
function filledFiles(files: TemplateFiles): TemplateFiles {
  const [body = ''] = Object.keys(files).filter((path) => path.startsWith('body.'));
  const includes = (text: string): string =>
    text.replace(/<mj-include path="(?:\.\/)?([^"]+)"\s*\/>/g, (_, path) =>
      includes(files[path] ?? ''),
    );
  const partials = Object.entries(files).flatMap(([path, text]) => {
    const [, name] = isPartial.exec(path) ?? [];
    return name === undefined ? [] : [[name, text]];
  });
  const source: CompiledTemplate = {
    subject: 'x',
    preheader: null,
    html: includes(files[body] ?? ''),
    text: null,
    partials: Object.fromEntries(partials),
    textPartials: {},
    brand: null,
    priority: null,
    allowRawHtml: false,
    contract: null,
  };
  return { 'template.yaml': 'subject: x', [body]: fill(source) };
}

const compile = (files: TemplateFiles, brandCss: string) =>
  compileSources({ files, brandCss }).compiled;

/** Hides what is Liquid no more: raw Liquid that was filled already. */
const asText = (text: string) => text.replaceAll('{{', '&#123;&#123;').replaceAll('{%', '&#123;%');

function commuted({ files, brandCss }: CorpusTemplate) {
  const filled = Object.fromEntries(
    Object.entries(filledFiles(files)).map(([path, text]) => [path, asText(text)]),
  );
  return {
    filledLast: renderingTree(fill(compile(files, brandCss))),
    filledFirst: renderingTree(fill(compile(filled, brandCss))),
    filled,
  };
}

describe('fill(compile(t)) equals compile(fill(t))', () => {
  it.each(
    [...mjmlTemplates, ...htmlTemplates].map((template) => [template.name, template] as const),
  )('for %s', (_name, template) => {
    const { filledLast, filledFirst } = commuted(template);
    expect(filledLast).toEqual(filledFirst);
    expect(filledLast.length).toBeGreaterThan(4);
  });
});

describe('MJML is rendered as mjml 5 does', () => {
  it.each(mjmlTemplates.map((template) => [template.name, template] as const))(
    'for %s',
    async (_name, template) => {
      const { filledLast, filled } = commuted(template);
      const { html } = await mjml2html(filled['body.mjml'] ?? '', {
        fonts: {},
        validationLevel: 'soft',
      });
      expect(withoutKnownDifferences(filledLast)).toEqual(
        withoutKnownDifferences(renderingTree(html)),
      );
    },
  );
});

it('has 60 templates', () => {
  expect(mjmlTemplates.length + htmlTemplates.length).toBeGreaterThanOrEqual(60);
});
