"""How risky a call of a tool is: pure judgement, for machines that ask people and for tools that refuse."""
