// Finds the regular expressions of the source: literals, and `new RegExp` at the top of a module or
// in a function. A pattern at the top of a module is known once the module is loaded.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** Folders whose code runs in the daemon, in a command or in a client. */
const folders = ['src', 'commands', 'daemon', 'bin', 'client'];

/** A regular expression as written: the literal, or the first argument of `new RegExp`. */
export interface SourcePattern {
  file: string;
  text: string;
}

export interface SourcePatterns {
  literals: SourcePattern[];
  /** `new RegExp` at the top level of a module. */
  onLoad: SourcePattern[];
  /** `new RegExp` within a function: its text may come from outside. */
  inFunctions: SourcePattern[];
}

function codeFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.d)\.[jt]s$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** Returns the first argument of `RegExp(…)`; undefined for another node. */
function constructedFrom(node: ts.Node, source: ts.SourceFile): string | undefined {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return undefined;
  if (!/^(?:globalThis\.)?RegExp$/.test(node.expression.getText(source))) return undefined;
  return (node.arguments?.[0]?.getText(source) ?? '').replaceAll(/\s+/g, ' ');
}

/** Returns the regular expressions in the text of one file. */
export function patternsIn(file: string, text: string): SourcePatterns {
  const found: SourcePatterns = { literals: [], onLoad: [], inFunctions: [] };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node, isInFunction: boolean): void => {
    if (ts.isRegularExpressionLiteral(node)) found.literals.push({ file, text: node.text });
    const constructed = constructedFrom(node, source);
    if (constructed !== undefined) {
      found[isInFunction ? 'inFunctions' : 'onLoad'].push({ file, text: constructed });
    }
    const isWithin = isInFunction || ts.isFunctionLike(node);
    ts.forEachChild(node, (child) => visit(child, isWithin));
  };
  visit(source, false);
  return found;
}

/** Returns the regular expressions of the source. */
export function readSourcePatterns(root: string): SourcePatterns {
  const files = folders.flatMap((folder) => codeFiles(root, folder));
  const all = files.map((file) => patternsIn(file, readFileSync(join(root, file), 'utf8')));
  return {
    literals: all.flatMap(({ literals }) => literals),
    onLoad: all.flatMap(({ onLoad }) => onLoad),
    inFunctions: all.flatMap(({ inFunctions }) => inFunctions),
  };
}

/** Returns the patterns that `new RegExp` makes while the modules of `files` load, as literals. */
export async function readLoadedPatterns(
  root: string,
  files: readonly string[],
): Promise<SourcePattern[]> {
  const found: SourcePattern[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, given, made) {
      const pattern = Reflect.construct(target, given, made);
      const caller = new Error().stack?.split('\n')[2] ?? '';
      const file = files.find((one) => caller.includes(`/${one}:`));
      if (file !== undefined) found.push({ file, text: String(pattern) });
      return pattern;
    },
  });
  try {
    for (const file of files) await import(join(root, file));
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}
