"""The API of OpenAI over threads: chat completions, responses and models.

1. A request creates a chat, or continues one; what is sent back is read from its journal.
2. Settings that no provider takes are refused, and the error names the parameter.
3. A client that goes away stops the reply.
"""
