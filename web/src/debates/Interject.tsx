import type { FormEvent, Ref } from 'react';
import { useDraft } from './interface';
import type { Actions } from './useActions';

/** A line to the debaters, which they hear from their next turn on. */
export function Interject({
  thread,
  actions,
  input,
}: {
  thread: string;
  actions: Actions;
  input: Ref<HTMLInputElement>;
}) {
  const [text, setText] = useDraft(thread);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const words = text.trim();
    if (words === '') return;
    if (await actions.send({ type: 'INTERJECT', text: words })) setText('');
  };
  return (
    <form className="interject" onSubmit={(event) => void submit(event)}>
      <input
        ref={input}
        className="field"
        aria-label="Say something to the debaters"
        placeholder="Say something to the debaters"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          // Enter that ends the input of a character does not send.
          if (event.key === 'Enter' && event.nativeEvent.isComposing) event.preventDefault();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <button type="submit" disabled={actions.isBusy || text.trim() === ''}>
        Interject
      </button>
    </form>
  );
}
