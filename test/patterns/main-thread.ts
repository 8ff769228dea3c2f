// The modules that the daemon's main thread can load: everything that its entry imports, now or
// later. Workers are started by URL, so modules that only they import are not among them.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Returns the modules that a file imports for more than types. */
function importsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const { moduleSpecifier: name } = node;
      if (name && ts.isStringLiteral(name) && !isOfTypes(node)) found.push(name.text);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [name] = node.arguments;
      if (name && ts.isStringLiteral(name)) found.push(name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return found;
}

function isOfTypes(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = clause.namedBindings;
  if (clause.name || !names || !ts.isNamedImports(names)) return false;
  return names.elements.length > 0 && names.elements.every(({ isTypeOnly }) => isTypeOnly);
}

/** Returns the files from `entry` on that import one of `libraries`, as `file library`, sorted. */
export function importersOf(root: string, entry: string, libraries: readonly string[]): string[] {
  const seen = new Set([entry]);
  const found = new Set<string>();
  for (const file of seen) {
    for (const name of importsOf(join(root, file))) {
      const library = libraries.find((one) => name === one || name.startsWith(`${one}/`));
      if (library !== undefined) found.add(`${file} ${library}`);
      const path = join(dirname(file), name);
      if (name.startsWith('.') && /\.[jt]s$/.test(name) && existsSync(join(root, path))) {
        seen.add(path);
      }
    }
  }
  return [...found].sort((a, b) => a.localeCompare(b, 'en'));
}
