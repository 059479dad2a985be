"""The first page: what needs a person, then figures, then charts. It alone looks at all sections."""
