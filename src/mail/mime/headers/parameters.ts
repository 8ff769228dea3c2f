// File names beyond ASCII in the parameters of Content-Type and Content-Disposition, written by RFC
// 2231.
import { foldTokens } from './encoded-words.ts';
import { decodeWords } from './header-values.ts';

const ascii = /^[\x20-\x7e]*$/;
const fileNames = new Set(['name', 'filename']);
/** Characters of a section, so that each section fits a line (RFC 2231 3). */
const sectionLength = 54;

/** Splits a value at the semicolons outside of quoted strings; null if a quote stays open. */
function splitParameters(value: string): string[] | null {
  const parts = [''];
  let isQuoted = false;
  for (let at = 0; at < value.length; at += 1) {
    let text = value.charAt(at);
    if (isQuoted && text === '\\') {
      at += 1;
      text += value.charAt(at);
    } else if (text === '"') isQuoted = !isQuoted;
    if (text === ';' && !isQuoted) parts.push('');
    else parts[parts.length - 1] += text;
  }
  return isQuoted ? null : parts.map((part) => part.trim()).filter(Boolean);
}

/** Writes a file name as an extended parameter, in sections if it is long. */
function extended(name: string, text: string): string[] {
  const encoded = encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  if (encoded.length <= sectionLength) return [`${name}*=utf-8''${encoded}`];
  const sections = encoded.match(/(?:%..|[^%]){1,18}/g) ?? [];
  return sections.map((section, index) => {
    const charset = index === 0 ? "utf-8''" : '';
    return `${name}*${index}*=${charset}${section}`;
  });
}

/**
 * Returns the value in ASCII; null if other parts than file names have non-ASCII characters. A
 * plain file name is dropped if the value also has it in extended form.
 */
export function encodeFileNames(name: string, value: string): string | null {
  const [type = '', ...parameters] = splitParameters(value) ?? ['\u{80}'];
  if (!ascii.test(type)) return null;
  const names = parameters.map((one) => one.split('=', 1)[0]?.trim().toLowerCase() ?? '');
  const written: string[] = [];
  for (const [index, parameter] of parameters.entries()) {
    const attribute = names[index] ?? '';
    if (ascii.test(parameter)) written.push(parameter);
    else if (!fileNames.has(attribute)) return null;
    else if (!names.some((other) => other.startsWith(`${attribute}*`))) {
      const text = parameter.slice(parameter.indexOf('=') + 1).trim();
      const isQuoted = text.startsWith('"') && text.endsWith('"');
      const bare = isQuoted ? text.slice(1, -1).replace(/\\(.)/gsu, '$1') : text;
      written.push(...extended(attribute, decodeWords(bare)));
    }
  }
  const tokens = [type, ...written];
  return foldTokens(
    name,
    tokens.map((token, at) => (at < tokens.length - 1 ? `${token};` : token)),
  );
}
