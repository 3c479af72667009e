import { useEffect, useRef, useState, type ButtonHTMLAttributes } from 'react';

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'onClick'> {
  run: () => Promise<unknown>;
}

/** What was done changes the page a moment later: until then another click would do it again. */
const SETTLE_MS = 700;

/** A button for work of the server; it takes no second click while the work is under way. */
export function ActionButton({ run, disabled = false, ...rest }: Props) {
  const [isBusy, setBusy] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const click = () => {
    setBusy(true);
    void run().finally(() => {
      timer.current = setTimeout(() => setBusy(false), SETTLE_MS);
    });
  };
  return <button type="button" {...rest} disabled={disabled || isBusy} onClick={click} />;
}
