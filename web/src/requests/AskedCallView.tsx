import { CodeBlock } from '../parts/CodeBlock';
import { inputText } from '../parts/ToolCard';
import { showHidden } from '../parts/visible';
import { accessText, argumentsOf, commandOf, type AskedCall } from './calls';
import { parseDiff } from '../parts/diffs';
import { Diff } from '../parts/Diff';

function Details({ call }: { call: AskedCall }) {
  const command = commandOf(call);
  const text = inputText(argumentsOf(call));
  if (call.diff && call.cut !== true) {
    return (
      <>
        <Diff diff={parseDiff(call.diff, call.path)} isWhole />
        <details className="ask-exact">
          <summary>Exact arguments</summary>
          <CodeBlock code={text} language="json" label={call.name} isMarked />
        </details>
      </>
    );
  }
  if (command === null) return <CodeBlock code={text} language="json" label="exact arguments" isMarked />;
  const rest = Object.keys(argumentsOf(call) as object).length > 1;
  return (
    <>
      <CodeBlock code={command} language="bash" label="command" isMarked />
      {rest ? <CodeBlock code={text} language="json" label="exact arguments" isMarked /> : null}
    </>
  );
}

/** One call of a request: what it does in full, why it is asked, and what it gets. */
export function AskedCallView({ call, isOnly }: { call: AskedCall; isOnly: boolean }) {
  const access = accessText(call);
  const isAsked = call.decision === 'ask';
  return (
    <div className="asked-call">
      <p className="asked-line">
        {isOnly ? null : <strong className="mono">{showHidden(call.name)}</strong>}
        {call.risk === 'read' ? null : (
          <span className="risk" data-risk={call.risk}>
            {call.risk}
          </span>
        )}
        <span>
          {isAsked ? `asked because ${showHidden(call.reason || 'the mode asks')}` : `already allowed by ${call.by}`}
        </span>
      </p>
      <Details call={call} />
      {access === '' ? null : <p className="asked-access">{access}</p>}
      {call.noUndo === undefined ? null : <p className="asked-access">This cannot be undone: {call.noUndo}</p>}
    </div>
  );
}
