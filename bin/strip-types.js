// Strips the types of our sources where npm has installed svc: Node itself refuses to, below
// node_modules. Workers import it too.
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url).href;

// Each start would warn that this function is new.
const { emitWarning } = process;
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).includes('stripTypeScriptTypes'))
    emitWarning.call(process, warning, ...rest);
};

module.registerHooks({
  load(url, context, nextLoad) {
    const isOurs = url.startsWith(root) && !url.startsWith(`${root}node_modules/`);
    if (!isOurs || !url.endsWith('.ts')) return nextLoad(url, context);
    const source = module.stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
