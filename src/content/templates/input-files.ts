// The files of a new template from the body of the request: all of them, or subject and content.
import { type FieldErrors, ValidationError } from '../../platform/errors.ts';
import type { TemplateFiles } from '../rendering/compiled.ts';
import type { CreateTemplate } from './schema.ts';

/** Fields of the body by the file that they become. */
const fieldOfFile = {
  'body.html': 'html',
  'body.mjml': 'mjml',
  'body.txt': 'text',
} as const;

/** Returns `template.yaml`. JSON texts are YAML too. */
function settingsFile({ subject, preheader, brand }: CreateTemplate): string {
  return Object.entries({ subject, preheader, brand })
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${JSON.stringify(value)}\n`]))
    .join('');
}

/** Returns the files of a template that is created from this body. */
export function filesOfInput(input: CreateTemplate): TemplateFiles {
  if (input.files !== undefined) return input.files;
  const files: Record<string, string> = { 'template.yaml': settingsFile(input) };
  for (const [path, field] of Object.entries(fieldOfFile)) {
    const content = input[field];
    if (content !== undefined) files[path] = content;
  }
  return files;
}

/** Returns the error with the fields of the body in place of the files that were made from them. */
export function inFieldsOf(input: CreateTemplate, error: ValidationError): ValidationError {
  if (input.files !== undefined || error.fieldErrors === undefined) return error;
  const fields: FieldErrors = {};
  for (const [name, messages] of Object.entries(error.fieldErrors)) {
    const path = name.replace(/^files\./, '');
    const field = path === 'template.yaml' ? 'subject' : fieldOfFile[path as 'body.html'];
    fields[field ?? name] = [...(fields[field ?? name] ?? []), ...messages];
  }
  const [first = ''] = Object.keys(fields);
  return new ValidationError(`${first}: ${fields[first]?.[0]}`, fields);
}
