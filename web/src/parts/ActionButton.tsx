import { useRef, useState, type ComponentProps } from 'react';

type Props = Omit<ComponentProps<'button'>, 'onClick' | 'type'> & { onAct: () => Promise<unknown> };

/**
 * A button for an action that must not happen twice: it is disabled while it works, and the second click of a double
 * click does not count, because it may meet a page that has changed meanwhile.
 */
export function ActionButton({ onAct, disabled, ...rest }: Props) {
  const [isWorking, setWorking] = useState(false);
  const isMounted = useRef(true);
  const act = () => {
    setWorking(true);
    void onAct().finally(() => {
      if (isMounted.current) setWorking(false);
    });
  };
  return (
    <button
      {...rest}
      type="button"
      ref={(button) => {
        isMounted.current = button !== null;
      }}
      disabled={disabled === true || isWorking}
      onClick={(event) => {
        if (event.detail < 2) act();
      }}
    />
  );
}
